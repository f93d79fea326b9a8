import { describe, expect, it } from 'vitest';
import { PrivateModes } from './private-modes.ts';

function after(...pieces: string[]): string {
  const modes = new PrivateModes();
  for (const piece of pieces) modes.see(Buffer.from(piece));
  return modes.undo();
}

describe('private modes left by a shell', () => {
  it('are reset: the alternate screen, the mouse, a hidden cursor', () => {
    expect(after('\u001b[?1049h\u001b[?1002;1006h', 'text\u001b[?25l')).toBe(
      '\u001b[?1049l\u001b[?1002l\u001b[?1006l\u001b[?25h\u001b[0m',
    );
  });

  it('need no reset if the program has reset them itself', () => {
    expect(after('\u001b[?1049h\u001b[?25l', '\u001b[?25h\u001b[?1049l')).toBe('');
    expect(after('plain text')).toBe('');
  });

  it('are recognized in a split sequence', () => {
    expect(after('\u001b[?20', '04h')).toBe('\u001b[?2004l\u001b[0m');
  });
});
