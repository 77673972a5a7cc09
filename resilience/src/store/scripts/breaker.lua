-- The state that the breakers of one name share, on Redis' own clock.
--
-- KEYS[1]           the present stay in a state, and while it is CLOSED the calls of the last buckets
-- KEYS[1]:failing   the nodes that saw too many failures, by when they last said so
-- KEYS[1]:slowed    the same for slow calls
-- KEYS[1]:probes    what each node did with the probes of this HALF_OPEN
-- ARGV              the node, then names and numbers:
--   exchange        counts the node's exchanges: one that comes late is told by it
--   generation      the stay that the node was last told of; what it counted belongs there
--   window, minimum, failure_rate, slow_rate, min_nodes      what opens
--   permitted, half_open_minimum, half_open_failure_rate, conclusive, lease, share
--                                                             what closes, and how probes are lent
--   wait, next_wait, longest_wait   of an opening after CLOSED, of one after HALF_OPEN, of any
--   longest_half_open, then_closed  ends HALF_OPEN by time alone, if above 0
--   automatic       1: OPEN ends by time alone
--   calls, failed, slow, is_failing, is_slowed   counted while CLOSED since the last exchange
--   probed, probes_failed, probes_slow, held     of the probes in this HALF_OPEN, in all
--   wanted          how many probes the node could use
-- Returns state (0 CLOSED, 1 OPEN, 2 HALF_OPEN), generation, microseconds left in it (0: no end),
--         probes lent to the node now, openings in a row
--
-- A node that has nothing to tell writes nothing, unless a state's own time is over.
local CLOSED, OPEN, HALF_OPEN = 0, 1, 2
local BUCKETS = 10
local DAY = 86400000
local FIELDS = { 'state', 'generation', 'ends', 'openings' }
local failing, slowed, probes = KEYS[1] .. ':failing', KEYS[1] .. ':slowed', KEYS[1] .. ':probes'

local node, ask = ARGV[1], {}
for i = 2, #ARGV, 2 do ask[ARGV[i]] = tonumber(ARGV[i + 1]) end

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])

-- What no script has written counts as nothing.
local function whole(text)
  local number = tonumber(text)
  local sound = number and number >= 0 and number < 9007199254740992 and number == math.floor(number)
  return sound and number or 0
end

local function text(number) return string.format('%.0f', number) end

local stay = redis.call('HMGET', KEYS[1], unpack(FIELDS))
local state, generation, ends, openings =
  whole(stay[1]), whole(stay[2]), whole(stay[3]), whole(stay[4])
if state > HALF_OPEN then state = CLOSED end
-- Nor is a stay longer than any could be, such as when the clock was set back: it is cut down for good,
-- or it would be cut anew each time and never end.
local written = ends
if state == OPEN then
  ends = math.min(ends, now + ask.longest_wait)
elseif ends > 0 then
  ends = ask.longest_half_open > 0 and math.min(ends, now + ask.longest_half_open) or 0
end
if ends < written and ends > 0 then redis.call('HSET', KEYS[1], 'ends', text(ends)) end

-- How long a stay is kept that nobody touches: an opening until somebody comes to end it.
local function keep(key)
  local life = math.ceil(ask.window / 1000) + 1000
  if state ~= CLOSED then life = DAY + math.ceil(math.max(ends - now, 0) / 1000) end
  redis.call('PEXPIRE', key, text(life))
end

-- Begins a stay. Its number is a time, so that none comes twice even if all keys were lost.
local function enter(to, length)
  if to == OPEN then openings = openings + 1 elseif to == CLOSED then openings = 0 end
  state, generation = to, math.max(now, generation + 1)
  ends = (to == OPEN or length > 0) and now + length or 0
  redis.call('DEL', KEYS[1], failing, slowed, probes)
  redis.call('HSET', KEYS[1], 'state', text(state), 'generation', text(generation),
    'ends', text(ends), 'openings', text(openings))
  keep(KEYS[1])
end

-- Rates are single precision where they are set: a hair below the threshold is at it.
local function reaches(part, all, threshold)
  return all > 0 and part * 100 >= threshold * all * 0.9999999
end

-- Takes note of whether this node sees too much of something; how many nodes do.
local function witnesses(key, sees)
  redis.call('ZREMRANGEBYSCORE', key, '-inf', text(now - ask.window))
  if sees == 1 then
    redis.call('ZADD', key, text(now), node)
    keep(key)
  else
    redis.call('ZREM', key, node)
  end
  return redis.call('ZCARD', key)
end

-- Adds calls to the present bucket of a ring; what all buckets of the window come to.
local function count()
  local present = math.floor(now / (ask.window / BUCKETS))
  local sums, mine = { 0, 0, 0 }, { ask.calls, ask.failed, ask.slow }
  local names = {}
  for slot = 0, BUCKETS - 1 do names[#names + 1] = 'bucket' .. slot end
  for _, written in ipairs(redis.call('HMGET', KEYS[1], unpack(names))) do
    local bucket, calls, failed, slow =
      string.match(written or '', '^(%d+) (%d+) (%d+) (%d+)$')
    local age = present - whole(bucket)
    if bucket and age >= 0 and age < BUCKETS then
      for i, counted in ipairs({ calls, failed, slow }) do
        sums[i] = sums[i] + whole(counted)
        if age == 0 then mine[i] = mine[i] + whole(counted) end
      end
    end
  end
  local bucket = table.concat({ text(present), text(mine[1]), text(mine[2]), text(mine[3]) }, ' ')
  redis.call('HSET', KEYS[1], 'bucket' .. present % BUCKETS, bucket)
  keep(KEYS[1])
  return sums[1] + ask.calls, sums[2] + ask.failed, sums[3] + ask.slow
end

local function while_closed()
  -- Where nothing is written, nothing has happened since that a count could be too old for.
  if ask.calls == 0 or generation ~= 0 and ask.generation ~= generation then return end
  local calls, failed, slow = count()
  local see_failures = witnesses(failing, ask.is_failing)
  local see_slowness = witnesses(slowed, ask.is_slowed)
  if calls < ask.minimum then return end
  local fails = reaches(failed, calls, ask.failure_rate) and see_failures >= ask.min_nodes
  local slows = reaches(slow, calls, ask.slow_rate) and see_slowness >= ask.min_nodes
  if fails or slows then enter(OPEN, ask.wait) end
end

-- Where the probes lead, if they lead anywhere yet.
local function verdict(calls, failed, slow)
  local function bad(all, more)
    return reaches(failed + more, all, ask.half_open_failure_rate)
      or reaches(slow + more, all, ask.slow_rate)
  end
  if ask.conclusive == 1 then
    local permitted = math.max(ask.permitted, calls)
    if bad(permitted, 0) then return OPEN end
    if not bad(permitted, permitted - calls) then return CLOSED end
  elseif calls > 0 and calls >= ask.half_open_minimum then
    return bad(calls, 0) and OPEN or CLOSED
  end
end

-- What each node did with its probes: exchange, calls, failed, slow, held, end of its lease.
local function read_probes()
  local written, nodes = redis.call('HGETALL', probes), {}
  for i = 1, #written, 2 do
    local numbers = {}
    for number in string.gmatch(written[i + 1], '%d+') do numbers[#numbers + 1] = whole(number) end
    local exchange, calls, failed, slow, held, lease = unpack(numbers)
    if lease then
      nodes[written[i]] = { exchange = exchange, calls = calls, failed = failed, slow = slow,
        held = held, lease = lease }
    end
  end
  return nodes
end

local function write_probes(of)
  of.lease = now + ask.lease
  redis.call('HSET', probes, node, table.concat({ text(of.exchange), text(of.calls),
    text(of.failed), text(of.slow), text(of.held), text(of.lease) }, ' '))
  keep(probes)
  keep(KEYS[1])
end

local function while_half_open()
  local nodes = read_probes()
  local before = nodes[node] or { exchange = 0, calls = 0, failed = 0, slow = 0, held = 0 }
  -- An exchange that was overtaken by a later one knows less than that one.
  if ask.exchange <= before.exchange then return 0 end
  local mine = { exchange = ask.exchange, calls = 0, failed = 0, slow = 0, held = 0 }
  if ask.generation == generation then
    mine.calls, mine.failed, mine.slow = ask.probed, ask.probes_failed, ask.probes_slow
    mine.held = ask.held
  end
  local is_news = mine.calls ~= before.calls or mine.held > 0 or before.held > 0
  local calls, failed, slow, held = mine.calls, mine.failed, mine.slow, mine.held
  for other, of in pairs(nodes) do
    if other ~= node then
      calls, failed, slow = calls + of.calls, failed + of.failed, slow + of.slow
      -- Who was not heard of for a lease has lost its probes; one that ends later than any could was
      -- written before the clock was set back.
      if of.lease > now and of.lease <= now + ask.lease then held = held + of.held end
    end
  end
  local to = (is_news or ask.wanted > 0) and verdict(calls, failed, slow)
  if to then
    enter(to, to == OPEN and ask.next_wait or 0)
    return 0
  end
  local free = ask.permitted - calls - held
  local lent = math.max(math.min(ask.wanted, free, ask.share - mine.held), 0)
  mine.held = mine.held + lent
  if is_news or lent > 0 then write_probes(mine) end
  return lent
end

if state == OPEN and now >= ends and (ask.automatic == 1 or ask.wanted > 0) then
  enter(HALF_OPEN, ask.longest_half_open)
elseif state == HALF_OPEN and ends > 0 and now >= ends then
  if ask.then_closed == 1 then enter(CLOSED, 0) else enter(OPEN, ask.next_wait) end
end

local lent = 0
if state == CLOSED then while_closed() elseif state == HALF_OPEN then lent = while_half_open() end
return { state, generation, math.max(ends - now, 0), lent, openings }
