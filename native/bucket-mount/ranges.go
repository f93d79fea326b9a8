package main

// ranges are the parts of a file that are in its spool: sorted, disjoint and never adjacent.
type ranges []span

type span struct{ start, end int64 }

func (r ranges) add(start, end int64) ranges {
	if start >= end {
		return r
	}
	joined := make(ranges, 0, len(r)+1)
	placed := false
	for _, each := range r {
		switch {
		case each.end < start:
			joined = append(joined, each)
		case each.start > end:
			if !placed {
				joined, placed = append(joined, span{start, end}), true
			}
			joined = append(joined, each)
		default:
			start, end = min(start, each.start), max(end, each.end)
		}
	}
	if !placed {
		joined = append(joined, span{start, end})
	}
	return joined
}

// cut drops everything from the given size on.
func (r ranges) cut(size int64) ranges {
	kept := ranges{}
	for _, each := range r {
		if each.start < size {
			kept = append(kept, span{each.start, min(each.end, size)})
		}
	}
	return kept
}

// missing returns the gaps between 0 and the given size.
func (r ranges) missing(size int64) []span {
	found, at := []span{}, int64(0)
	for _, each := range r {
		if each.start >= size {
			break
		}
		if each.start > at {
			found = append(found, span{at, each.start})
		}
		at = each.end
	}
	if at < size {
		found = append(found, span{at, size})
	}
	return found
}

func (r ranges) contains(start, end int64) bool {
	for _, each := range r {
		if each.start <= start && end <= each.end {
			return true
		}
	}
	return start >= end
}

func (r ranges) total() int64 {
	sum := int64(0)
	for _, each := range r {
		sum += each.end - each.start
	}
	return sum
}
