package core

import "slices"

type blockID int32

// kvBlock is one block. Blocks without references are in the free list, the next
// to be taken first. They keep their content, and so their place in the prefix cache,
// until they are taken.
type kvBlock struct {
	refs       int
	hash       uint64 // of the tokens up to its end; 0: not in the prefix cache
	prev, next blockID
}

// kvCache is the paged KV cache with its prefix cache. Block 0 is never given
// out: it is the root of the free list.
type kvCache struct {
	blocks   []kvBlock
	tokens   int // in a block
	byHash   map[uint64]blockID
	free     int // without references
	withheld int // of the free ones; more than there are while they are still in use
	prefixes bool
}

func newKVCache(blocks, tokens int, prefixes bool) *kvCache {
	c := &kvCache{blocks: make([]kvBlock, blocks+1), tokens: tokens, byHash: map[uint64]blockID{}, prefixes: prefixes}
	for id := 1; id <= blocks; id++ {
		c.link(blockID(id), c.blocks[0].prev)
	}
	return c
}

// usage is the share of blocks in use or withheld, 0 to 1. Cached blocks that
// nobody uses are free.
func (c *kvCache) usage() float64 {
	total := len(c.blocks) - 1
	return float64(total-max(0, c.free-c.withheld)) / float64(total)
}

// withhold keeps a share of all blocks, 0 to 1, from being taken.
func (c *kvCache) withhold(share float64) {
	c.withheld = int(min(1, max(0, share)) * float64(len(c.blocks)-1))
}

// link puts a block into the free list behind another one.
func (c *kvCache) link(id, after blockID) {
	next := c.blocks[after].next
	c.blocks[id].prev, c.blocks[id].next = after, next
	c.blocks[after].next, c.blocks[next].prev = id, id
	c.free++
}

func (c *kvCache) unlink(id blockID) {
	b := &c.blocks[id]
	c.blocks[b.prev].next, c.blocks[b.next].prev = b.next, b.prev
	c.free--
}

// take gives out the block that was unused for longest, and drops its content.
// The caller has checked that there is one.
func (c *kvCache) take() blockID {
	id := c.blocks[0].next
	c.unlink(id)
	b := &c.blocks[id]
	if b.hash != 0 {
		delete(c.byHash, b.hash)
		b.hash = 0
	}
	b.refs = 1
	return id
}

// share adds a reference to a cached block.
func (c *kvCache) share(id blockID) {
	b := &c.blocks[id]
	if b.refs == 0 {
		c.unlink(id)
	}
	b.refs++
}

// release gives back a sequence's blocks, last one first: the head of a prompt is
// the likeliest to be needed again. Blocks that cache nothing are taken first.
func (c *kvCache) release(ids []blockID) {
	for _, id := range slices.Backward(ids) {
		b := &c.blocks[id]
		if b.refs--; b.refs > 0 {
			continue
		}
		if b.hash == 0 {
			c.link(id, 0)
		} else {
			c.link(id, c.blocks[0].prev)
		}
	}
}

// publish makes a full block findable. If another block holds the same tokens,
// that one stays.
func (c *kvCache) publish(id blockID, hash uint64) {
	if _, taken := c.byHash[hash]; taken || !c.prefixes {
		return
	}
	c.byHash[hash] = id
	c.blocks[id].hash = hash
}

// cachePrefixes switches the prefix cache; off, it is empty.
func (c *kvCache) cachePrefixes(on bool) {
	if c.prefixes = on; on {
		return
	}
	for _, id := range c.byHash {
		c.blocks[id].hash = 0
	}
	clear(c.byHash)
}

// match finds the cached blocks of the longest known prefix, and how many of
// them are in the free list now.
func (c *kvCache) match(hashes []uint64) (ids []blockID, free int) {
	for _, h := range hashes {
		id, ok := c.byHash[h]
		if !ok {
			break
		}
		if ids = append(ids, id); c.blocks[id].refs == 0 {
			free++
		}
	}
	return ids, free
}

// blocksFor is the number of blocks that hold that many tokens.
func (c *kvCache) blocksFor(tokens int) int { return (tokens + c.tokens - 1) / c.tokens }
