package snapshot

// The scripts. Each touches the one key it is given, so each runs in a Redis Cluster. Numbers of 64 bits are compared as
// decimal text: a Lua number holds 53 bits, and an incarnation needs 61. Texts are compared byte by byte where order
// matters beyond digits, since Lua's own comparison follows the server's locale.

// luaCompare orders decimal numbers without leading zeros.
const luaCompare = `
local function compare(a, b)
  if #a ~= #b then return #a - #b end
  if a == b then return 0 end
  if a < b then return -1 end
  return 1
end
`

// scriptApply writes one update. ARGV: incarnation, first, sequence, base ("" with a reset), reset (0 or 1), limit in
// bytes, detail, number of deletions, the fields to delete, then field and value of each to set. It answers outcome and
// stored position; nothing is written unless the outcome is "applied".
const scriptApply = luaCompare + `
local key = KEYS[1]
local inc, first, seq, base, reset = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5] == '1'
local limit, detail = tonumber(ARGV[6]), ARGV[7]
local sets = 9 + tonumber(ARGV[8])

local head = redis.call('HMGET', key, 'tombstone', 'position', 'void')
local tombstone, position, void = head[1], head[2], head[3]
local bytes, known = 0, false
if tombstone then
  local tinc, tseq = string.match(tombstone, '^(%d+) (%d+)$')
  local c = compare(inc, tinc)
  if c < 0 or (c == 0 and compare(first, tseq) <= 0) then return {'deleted', ''} end
elseif void then
  local vinc, vfirst, vseq = string.match(void, '^(%d+) (%d+) (%d+) ')
  if vinc then
    local c = compare(inc, vinc)
    if c == 0 then c = compare(first, vfirst) end
    if c == 0 then c = compare(seq, vseq) end
    if c < 0 then return {'stale', ''} end
  end
elseif position then
  local pinc, pfirst, pseq, pfields, pbytes = string.match(position, '^(%d+) (%d+) (%d+) (%d+) (%d+) ')
  if pinc then
    local c = compare(inc, pinc)
    if c == 0 then c = compare(first, pfirst) end
    if c == 0 then c = compare(seq, pseq) end
    if c < 0 then return {'stale', position} end
    if redis.call('HLEN', key) - 1 == tonumber(pfields) then
      if c == 0 and not reset then return {'unchanged', position} end
      known = base == pinc .. ' ' .. pfirst .. ' ' .. pseq
      bytes = tonumber(pbytes)
    end
  else
    position = ''
  end
end
if not reset and not known then return {'rebase', position or ''} end

if reset then
  bytes = 0
else
  for i = 9, sets - 1 do
    local had = redis.call('HSTRLEN', key, ARGV[i])
    if had > 0 then bytes = bytes - had - #ARGV[i] end
  end
end
for i = sets, #ARGV, 2 do
  if not reset then
    local had = redis.call('HSTRLEN', key, ARGV[i])
    if had > 0 then bytes = bytes - had - #ARGV[i] end
  end
  bytes = bytes + #ARGV[i] + #ARGV[i + 1]
end
if bytes > limit then return {'toolarge', string.format('%.0f', bytes)} end

local others = 1
if reset then
  redis.call('UNLINK', key)
  others = 0
else
  for i = 9, sets - 1 do redis.call('HDEL', key, ARGV[i]) end
end
for i = sets, #ARGV, 2 do redis.call('HSET', key, ARGV[i], ARGV[i + 1]) end
local fields = redis.call('HLEN', key) - others
position = inc .. ' ' .. first .. ' ' .. seq .. ' ' .. string.format('%.0f %.0f ', fields, bytes) .. detail
redis.call('HSET', key, 'position', position)
return {'applied', position}
`

// scriptDelete leaves a tombstone. ARGV: incarnation, sequence, time to live in ms. It answers outcome and, if a newer life
// of the thread is stored, its position.
const scriptDelete = luaCompare + `
local key = KEYS[1]
local inc, seq = ARGV[1], ARGV[2]
local head = redis.call('HMGET', key, 'tombstone', 'position', 'void')
local tombstone, position, void = head[1], head[2], head[3]
if tombstone then
  local tinc, tseq = string.match(tombstone, '^(%d+) (%d+)$')
  local c = compare(tinc, inc)
  if c > 0 or (c == 0 and compare(tseq, seq) > 0) then inc, seq = tinc, tseq end
elseif position or void then
  local pinc, pfirst = string.match(position or void, '^(%d+) (%d+) ')
  if pinc then
    local c = compare(pinc, inc)
    if c > 0 or (c == 0 and compare(pfirst, seq) > 0) then return {'stale', position or ''} end
  end
end
redis.call('UNLINK', key)
redis.call('HSET', key, 'tombstone', inc .. ' ' .. seq)
redis.call('PEXPIRE', key, ARGV[3])
return {'applied', ''}
`

// scriptVoid leaves nothing of a thread but that it is not kept. ARGV: incarnation, first, sequence, activity. It answers
// outcome and, if a newer version is stored, its position.
const scriptVoid = luaCompare + `
local key = KEYS[1]
local inc, first, seq = ARGV[1], ARGV[2], ARGV[3]
local head = redis.call('HMGET', key, 'tombstone', 'position', 'void')
local tombstone, position, void = head[1], head[2], head[3]
if tombstone then
  local tinc, tseq = string.match(tombstone, '^(%d+) (%d+)$')
  local c = compare(inc, tinc)
  if c < 0 or (c == 0 and compare(first, tseq) <= 0) then return {'deleted', ''} end
elseif position or void then
  local pinc, pfirst, pseq = string.match(position or void, '^(%d+) (%d+) (%d+) ')
  if pinc then
    local c = compare(inc, pinc)
    if c == 0 then c = compare(first, pfirst) end
    if c == 0 then c = compare(seq, pseq) end
    if c < 0 then return {'stale', position or ''} end
  end
end
redis.call('UNLINK', key)
redis.call('HSET', key, 'void', inc .. ' ' .. first .. ' ' .. seq .. ' ' .. ARGV[4])
return {'applied', ''}
`

// scriptAdvance raises a shard's progress. ARGV: incarnation, sequence. It answers what is stored afterwards.
const scriptAdvance = luaCompare + `
local inc, seq = ARGV[1], ARGV[2]
local had = redis.call('GET', KEYS[1])
if had then
  local hinc, hseq = string.match(had, '^(%d+) (%d+)$')
  if hinc then
    local c = compare(hinc, inc)
    if c > 0 or (c == 0 and compare(hseq, seq) >= 0) then return had end
  end
end
redis.call('SET', KEYS[1], inc .. ' ' .. seq)
return inc .. ' ' .. seq
`

// scriptContinue raises a shard's progress unless less than what the caller knows of is recorded. ARGV: incarnation, sequence,
// and those known, 0 and 0 if nothing. It answers "lost" or "ok" and what is stored afterwards.
const scriptContinue = luaCompare + `
local inc, seq, kinc, kseq = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local had = redis.call('GET', KEYS[1])
local hinc, hseq
if had then hinc, hseq = string.match(had, '^(%d+) (%d+)$') end
if hinc then
  local c = compare(hinc, kinc)
  if c < 0 or (c == 0 and compare(hseq, kseq) < 0) then return {'lost', had} end
  c = compare(hinc, inc)
  if c > 0 or (c == 0 and compare(hseq, seq) >= 0) then return {'ok', had} end
elseif kinc ~= '0' then
  return {'lost', ''}
end
redis.call('SET', KEYS[1], inc .. ' ' .. seq)
return {'ok', inc .. ' ' .. seq}
`

// scriptUnlist removes a thread from the index unless it was active after a time. ARGV: thread, activity.
const scriptUnlist = `
local at = redis.call('ZSCORE', KEYS[1], ARGV[1])
if at and tonumber(at) <= tonumber(ARGV[2]) then return redis.call('ZREM', KEYS[1], ARGV[1]) end
return 0
`

// scriptPage reads a page of the index, newest first. ARGV: activity and thread of the last entry seen ("" from the
// start), how many entries, prefix of the threads wanted, how many entries to look at. It answers whether more follows,
// activity and thread of the last entry looked at, then activity and thread of each entry.
const scriptPage = `
local key, score, member = KEYS[1], ARGV[1], ARGV[2]
local want, prefix, budget = tonumber(ARGV[3]), ARGV[4], tonumber(ARGV[5])
local function before(a, b)
  for i = 1, math.min(#a, #b) do
    local x, y = string.byte(a, i), string.byte(b, i)
    if x ~= y then return x < y end
  end
  return #a < #b
end

local start, passed = 0, true
if score ~= '' then
  local at = redis.call('ZSCORE', key, member)
  if at and tonumber(at) == tonumber(score) then
    start = redis.call('ZREVRANK', key, member) + 1
  else
    start = redis.call('ZCOUNT', key, '(' .. score, '+inf')
    passed = false
  end
end
local out = {0, score, member}
local found, looked = 0, 0
local step = prefix == '' and math.min(want, 256) or 256
while found < want and looked < budget do
  local chunk = redis.call('ZREVRANGE', key, start, start + step - 1, 'WITHSCORES')
  if #chunk == 0 then return out end
  for i = 1, #chunk, 2 do
    local m, s = chunk[i], chunk[i + 1]
    start = start + 1
    if not passed then passed = tonumber(s) < tonumber(score) or before(m, member) end
    if passed then
      looked = looked + 1
      out[2], out[3] = s, m
      if string.sub(m, 1, #prefix) == prefix then
        out[#out + 1] = s
        out[#out + 1] = m
        found = found + 1
      end
      if found >= want or looked >= budget then break end
    end
  end
end
if start < redis.call('ZCARD', key) then out[1] = 1 end
return out
`
