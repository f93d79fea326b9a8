import { describe, expect, it } from 'vitest';
import { TypedInput } from './typed-input.ts';

const connection = (bytes: number) => {
  const made = { ends: 0, endInput: () => ((made.ends += 1), Promise.resolve(bytes)) };
  return made;
};

describe('the input of connections to a session', () => {
  it('is told once its connection has ended, and again to a client that asks twice', async () => {
    const typed = new TypedInput();
    const end = typed.follow('sbx_a main', 'first', connection(7));
    end();
    expect(await typed.takenBytes('sbx_a main', 'first')).toBe(7);
    expect(await typed.takenBytes('sbx_a main', 'first')).toBe(7);
  });

  it('ends a connection that is still open, and no other one', async () => {
    const typed = new TypedInput();
    const [open, other] = [connection(3), connection(4)];
    const end = typed.follow('sbx_a main', 'first', open);
    typed.follow('sbx_a main', 'second', other);
    expect(await typed.takenBytes('sbx_a main', 'first')).toBe(3);
    end();
    expect([open.ends, other.ends]).toEqual([1, 0]);
  });

  it('is unknown for another session, another sandbox and a name that was never used', async () => {
    const typed = new TypedInput();
    typed.follow('sbx_a main', 'first', connection(3));
    for (const [place, name] of [
      ['sbx_a other', 'first'],
      ['sbx_b main', 'first'],
      ['sbx_a main', 'second'],
    ] as const) {
      expect(await typed.takenBytes(place, name)).toBeNull();
    }
  });

  it('is forgotten for the oldest of more than a thousand connections', async () => {
    const typed = new TypedInput();
    for (let count = 0; count <= 1_000; count += 1) typed.follow('sbx_a main', `name ${count}`, connection(count))();
    expect(await typed.takenBytes('sbx_a main', 'name 0')).toBeNull();
    expect(await typed.takenBytes('sbx_a main', 'name 1')).toBe(1);
  });
});
