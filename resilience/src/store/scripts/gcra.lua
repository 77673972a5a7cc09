-- The generic cell rate algorithm on Redis' own clock: the key holds the time at which all
-- permissions will be back.
-- KEYS[1] the limit
-- ARGV    limit, period in microseconds, least and most permissions to take
-- Returns permissions taken, microseconds to wait if none (-1: no wait is long enough),
--         permissions left, microseconds for which those taken are good
local limit, period = tonumber(ARGV[1]), tonumber(ARGV[2])
local least, most = tonumber(ARGV[3]), tonumber(ARGV[4])
local interval = period / limit

-- Counted from 2026, so that a double resolves a hundredth of a microsecond.
local time = redis.call('TIME')
local now = (tonumber(time[1]) - 1767225600) * 1000000 + tonumber(time[2])

local back = tonumber(redis.call('GET', KEYS[1]))
-- What no script has written counts as nothing.
if not back or back ~= back or back < now then back = now end
-- What lies beyond one burst is cut down to it, for good: the clock was set back, or the period was
-- longer, and the waits that are told have to come true.
local function keep()
  local expiry = math.max(math.ceil((back - now) / 1000), 1)
  redis.call('SET', KEYS[1], string.format('%.17g', back), 'PX', string.format('%.0f', expiry))
end
if back > now + period + interval * 0.002 then
  back = now + period
  keep()
end

-- A thousandth of a permission absorbs what rounding takes away; it stays owed.
local left = math.max(math.floor((now + period - back) / interval + 0.001), 0)
if left < least then
  if least > limit then return {0, -1, left, 0} end
  return {0, math.ceil(back + least * interval - period - now), left, 0}
end
local taken = math.min(left, most)
back = back + taken * interval
keep()
return {taken, 0, left - taken, math.floor(period)}
