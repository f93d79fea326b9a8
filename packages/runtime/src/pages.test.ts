import { expect, it } from 'vitest';
import { pageOf, parseCursor } from './pages.ts';

const ROWS = [
  { at: '2026-01-01', id: 'a' },
  { at: '2026-01-02', id: 'ß' },
  { at: '2026-01-03', id: 'c' },
];
const keyOf = (row: { at: string; id: string }): string[] => [row.at, row.id];

it('a page ends with the cursor of its last row, which leads to the next', () => {
  const { items, nextCursor } = pageOf(ROWS, 2, keyOf);
  expect(items).toEqual(ROWS.slice(0, 2));
  expect(parseCursor(nextCursor ?? '', 2)).toEqual(['2026-01-02', 'ß']);
});

it('the last page has no cursor', () => {
  expect(pageOf(ROWS, 3, keyOf)).toEqual({ items: ROWS, nextCursor: null });
  expect(pageOf([], 3, keyOf)).toEqual({ items: [], nextCursor: null });
});

it('a cursor that no page ended with is refused', () => {
  const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  for (const cursor of ['', '%', 'bm90IEpTT04', encoded(['a']), encoded(['a', 1]), encoded({ length: 2 })]) {
    expect(parseCursor(cursor, 2)).toBeNull();
  }
});
