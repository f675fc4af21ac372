package core

import "testing"

func takeN(c *kvCache, n int) (ids []blockID) {
	for range n {
		ids = append(ids, c.take())
	}
	return ids
}

func TestReleasedBlocksStayCachedUntilTaken(t *testing.T) {
	c := newKVCache(4, 16, true)
	a := takeN(c, 2)
	c.publish(a[0], 11)
	c.publish(a[1], 12)
	c.release(a)
	if c.free != 4 || c.usage() != 0 {
		t.Fatalf("free %d, usage %g after release", c.free, c.usage())
	}
	if got, free := c.match([]uint64{11, 12, 13}); len(got) != 2 || free != 2 {
		t.Fatalf("found %d blocks, %d of them free; want 2, 2", len(got), free)
	}
	takeN(c, 3) // the two that cache nothing, then the end of the cached prefix
	if got, _ := c.match([]uint64{11, 12}); len(got) != 1 {
		t.Errorf("%d blocks are still cached, want the first one", len(got))
	}
	takeN(c, 1)
	if got, _ := c.match([]uint64{11}); len(got) != 0 {
		t.Error("a block that was given out is still cached")
	}
}

func TestSharedBlockIsFreeOnlyAfterItsLastUser(t *testing.T) {
	c := newKVCache(2, 16, true)
	id := c.take()
	c.publish(id, 7)
	c.share(id)
	c.release([]blockID{id})
	if c.free != 1 {
		t.Fatalf("free %d while one user is left, want 1", c.free)
	}
	c.release([]blockID{id})
	if c.free != 2 {
		t.Errorf("free %d, want 2", c.free)
	}
}

func TestLeastRecentlyUsedPrefixGoesFirst(t *testing.T) {
	c := newKVCache(3, 16, true)
	ids := takeN(c, 3)
	for i, id := range ids {
		c.publish(id, uint64(i+1))
		c.release([]blockID{id})
	}
	c.share(ids[0]) // used again: now the most recent
	c.release(ids[:1])
	c.take()
	for hash, want := range map[uint64]int{1: 1, 2: 0, 3: 1} {
		if got, _ := c.match([]uint64{hash}); len(got) != want {
			t.Errorf("block %d: %d cached, want %d", hash, len(got), want)
		}
	}
}

func TestBlockHashDependsOnEverythingBefore(t *testing.T) {
	a := []uint32{1, 2, 3}
	if blockHash(1, a) == blockHash(2, a) || blockHash(1, a) == blockHash(1, []uint32{1, 2, 4}) {
		t.Error("different prefixes have equal hashes")
	}
}

func TestEmptiedPrefixCacheFindsNothing(t *testing.T) {
	c := newKVCache(8, 16, true)
	id := c.take()
	c.publish(id, 77)
	c.cachePrefixes(false)
	if ids, _ := c.match([]uint64{77}); len(ids) != 0 {
		t.Error("a block is found in a cache that is off")
	}
	c.publish(id, 77)
	c.cachePrefixes(true)
	if ids, _ := c.match([]uint64{77}); len(ids) != 0 {
		t.Error("a block was cached while the cache was off")
	}
	if c.publish(id, 78); len(c.byHash) != 1 {
		t.Error("nothing is cached when it is on again")
	}
}
