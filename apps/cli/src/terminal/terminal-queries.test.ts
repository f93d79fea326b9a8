import { expect, it } from 'vitest';
import { withoutQueries } from './terminal-queries.ts';

it('removes only terminal queries', () => {
  const asked = '# \u001b[6n\u001b[c\u001b[>0c\u001b]11;?\u0007grün \u001b[1;31mred\u001b[0m\u001b[?25l';
  expect(Buffer.from(withoutQueries(Buffer.from(asked))).toString()).toBe('# grün \u001b[1;31mred\u001b[0m\u001b[?25l');
});
