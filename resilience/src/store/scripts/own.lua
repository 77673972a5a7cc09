-- Takes a key for the holder of a token, for a limited time.
-- KEYS[1] the key
-- ARGV    token, milliseconds until it expires
-- Returns 1 and the time, or 0 and the milliseconds that are left to whoever has it
if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then
  return {1, tonumber(ARGV[2])}
end
-- One that never expires is none of ours; it is told as taken, with no time.
return {0, redis.call('PTTL', KEYS[1])}
