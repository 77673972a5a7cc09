-- Counts permissions in windows of Redis' own clock.
-- KEYS[1] the limit; each window has a key of its own in the same slot
-- ARGV    limit, period in microseconds, least and most permissions to take
-- Returns permissions taken, microseconds to wait if none (-1: no wait is long enough),
--         permissions left, microseconds for which those taken are good
local limit, period = tonumber(ARGV[1]), tonumber(ARGV[2])
local least, most = tonumber(ARGV[3]), tonumber(ARGV[4])

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
local window = math.floor(now / period)
local rest = (window + 1) * period - now
local key = KEYS[1] .. ':' .. string.format('%.0f', window)

-- What no script has written counts as nothing.
local used = tonumber(string.match(redis.call('GET', key) or '', '^%d+$'))
if not used or used >= 9007199254740992 then used = 0 end

local left = math.max(limit - used, 0)
if left < least then
  if least > limit then return {0, -1, left, 0} end
  return {0, rest, left, 0}
end
local taken = math.min(left, most)
local expiry = math.ceil(rest / 1000) + 1000
redis.call('SET', key, string.format('%.0f', used + taken), 'PX', string.format('%.0f', expiry))
return {taken, 0, left - taken, rest}
