-- Lets go of a key, if the token is that of its holder.
-- KEYS[1] the key
-- ARGV    token
-- Returns 1 if it was let go, else 0
if redis.call('GET', KEYS[1]) == ARGV[1] then
  return {redis.call('DEL', KEYS[1])}
end
return {0}
