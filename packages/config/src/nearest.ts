/** Returns the candidate closest to a mistyped name, or null if none is close. */
export function nearest(name: string, candidates: Iterable<string>, maxDistance = limitFor(name)): string | null {
  let best: string | null = null;
  let bestDistance = maxDistance + 1;
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - name.length) >= bestDistance) continue;
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase());
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

function limitFor(name: string): number {
  return Math.max(1, Math.floor(name.length * 0.4));
}

/** Optimal string alignment distance: insertion, deletion, substitution and adjacent swap cost one each. */
function editDistance(left: string, right: string): number {
  let twoBack: number[] = [];
  let previous = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 1; row <= left.length; row++) {
    const current = [row];
    for (let column = 1; column <= right.length; column++) {
      const replaced = (previous[column - 1] ?? 0) + (left[row - 1] === right[column - 1] ? 0 : 1);
      let cost = Math.min(replaced, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1);
      if (left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1]) {
        cost = Math.min(cost, (twoBack[column - 2] ?? Infinity) + 1);
      }
      current.push(cost);
    }
    twoBack = previous;
    previous = current;
  }
  return previous[right.length] ?? 0;
}
