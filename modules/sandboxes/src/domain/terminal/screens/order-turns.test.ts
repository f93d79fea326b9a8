import { expect, it } from 'vitest';
import { OrderTurns } from './order-turns.ts';

it('applies one order per screen in turn, keeping the order within a screen', () => {
  const applied: string[] = [];
  const later: (() => void)[] = [];
  const turns = new OrderTurns(
    (order) => applied.push(`${order.screen}${order.kind}`),
    (next) => later.push(next),
  );
  for (const kind of ['gap', 'draw', 'forget'] as const) turns.add({ kind, screen: 1 });
  turns.add({ kind: 'draw', screen: 2 });
  later.shift()?.();
  turns.add({ kind: 'gap', screen: 3 });
  for (let next = later.shift(); next !== undefined; next = later.shift()) next();
  expect(applied).toEqual(['1gap', '2draw', '1draw', '3gap', '1forget']);
  turns.add({ kind: 'gap', screen: 1 });
  later.shift()?.();
  expect(applied.at(-1)).toBe('1gap');
});
