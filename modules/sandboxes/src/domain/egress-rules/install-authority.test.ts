import { expect, it } from 'vitest';
import { withAuthority } from './install-authority.ts';

it('adds a certificate to a bundle once, and replaces that of another sandbox', () => {
  const first = withAuthority('ROOT', 'A\n');
  expect(first).toBe('ROOT\n# svc sandbox egress: begin\nA\n# svc sandbox egress: end\n');
  expect(withAuthority(first, 'A')).toBe(first);
  expect(withAuthority(`${first}LATER\n`, 'B')).toBe(
    'ROOT\nLATER\n# svc sandbox egress: begin\nB\n# svc sandbox egress: end\n',
  );
  expect(withAuthority('', 'A')).toBe('# svc sandbox egress: begin\nA\n# svc sandbox egress: end\n');
});
