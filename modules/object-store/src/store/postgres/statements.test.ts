import { describe, expect, it } from 'vitest';
import { Additions } from './statements.ts';

const USAGE = 'update bucket_usage set objects = objects + ?, bytes = bytes + ? where bucket_id = ?';
const TRASH = 'update tenant set trash_bytes = trash_bytes + ? where workspace_uuid = ?';

describe('additions to counters', () => {
  it('are summed per row and written in one order, however they came', () => {
    const additions = new Additions();
    additions.add({ kind: 'add', text: TRASH, amounts: [7], key: 'w' });
    additions.add({ kind: 'add', text: USAGE, amounts: [1, 10], key: 12 });
    additions.add({ kind: 'add', text: USAGE, amounts: [1, 20], key: 3 });
    additions.add({ kind: 'add', text: USAGE, amounts: [-1, 5], key: 12 });
    expect(additions.take()).toEqual([
      { text: USAGE, values: [1, 20, 3] },
      { text: USAGE, values: [0, 15, 12] },
      { text: TRASH, values: [7, 'w'] },
    ]);
    expect(additions.take()).toEqual([]);
  });

  it('that cancel out write nothing, so that the row stays unlocked', () => {
    const additions = new Additions();
    additions.add({ kind: 'add', text: USAGE, amounts: [1, 10], key: 1 });
    additions.add({ kind: 'add', text: USAGE, amounts: [-1, -10], key: 1 });
    expect(additions.take()).toEqual([]);
  });
});
