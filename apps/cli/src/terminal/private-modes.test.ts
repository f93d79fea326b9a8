import { describe, expect, it } from 'vitest';
import { PrivateModes } from './private-modes.ts';

function after(...pieces: string[]): string {
  const modes = new PrivateModes();
  for (const piece of pieces) modes.see(Buffer.from(piece));
  return modes.undo();
}

describe('what a shell leaves on a terminal', () => {
  it('is undone: the other screen, the mouse, a hidden cursor', () => {
    expect(after('\u001b[?1049h\u001b[?1002;1006h', 'text\u001b[?25l')).toBe(
      '\u001b[?1049l\u001b[?1002l\u001b[?1006l\u001b[?25h\u001b[0m',
    );
  });

  it('is nothing when the program has undone it itself', () => {
    expect(after('\u001b[?1049h\u001b[?25l', '\u001b[?25h\u001b[?1049l')).toBe('');
    expect(after('plain text')).toBe('');
  });

  it('is seen when a sequence is cut in two', () => {
    expect(after('\u001b[?20', '04h')).toBe('\u001b[?2004l\u001b[0m');
  });
});
