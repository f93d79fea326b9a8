package main

import (
	"math/rand"
	"slices"
	"testing"
)

func TestRangesAgreeWithBytes(t *testing.T) {
	const size = 64
	random := rand.New(rand.NewSource(1))
	for range 2000 {
		have, bytes := ranges{}, [size]bool{}
		for range 6 {
			if random.Intn(4) == 0 {
				cut := random.Intn(size)
				have = have.cut(int64(cut))
				clear(bytes[cut:])
				continue
			}
			start, end := random.Intn(size), random.Intn(size+1)
			have = have.add(int64(start), int64(end))
			for at := start; at < end; at++ {
				bytes[at] = true
			}
		}
		count, limit := int64(0), int64(random.Intn(size+1))
		missing := [size]bool{}
		for _, each := range have.missing(limit) {
			for at := each.start; at < each.end; at++ {
				missing[at] = true
			}
		}
		for at, there := range bytes {
			if there {
				count++
			}
			if missing[at] != (!there && int64(at) < limit) {
				t.Fatalf("missing below %d of %v: got %v", limit, have, have.missing(limit))
			}
			if have.contains(int64(at), int64(at)+1) != there {
				t.Fatalf("%v disagrees at %d", have, at)
			}
		}
		if have.total() != count || !slices.IsSortedFunc(have, func(a, b span) int { return int(a.end - b.start + 1) }) {
			t.Fatalf("%v is not in order", have)
		}
	}
}

func TestAttributesSurviveTheirMetadata(t *testing.T) {
	e := entry{Kind: kindFile, Metadata: map[string]string{"mode": "33188", "uid": "12", "gid": "0", "mtime": "1700000000.000000042"}}
	if again := (&entry{Kind: kindFile, Metadata: e.attributes().metadata()}).attributes(); again != e.attributes() {
		t.Fatalf("%v changed to %v", e.attributes(), again)
	}
	if a := (&entry{Kind: kindFile, Metadata: map[string]string{"mode": "16877"}}).attributes(); a.mode != 0o100755 {
		t.Fatalf("a file with a folder's mode has mode %o", a.mode)
	}
	if a := (&entry{Kind: kindFile, Metadata: map[string]string{"mode": "x", "uid": "-1", "mtime": "y"}, ModifiedMs: 5}).attributes(); a.mode != defaultFileMode || a.uid != 0 || a.modified.UnixMilli() != 5 {
		t.Fatalf("attributes with unknown IDs are %v", a)
	}
}
