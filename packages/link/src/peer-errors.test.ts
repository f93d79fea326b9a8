import { fakeClock } from '@svc/testing';
import { expect, it } from 'vitest';
import { PeerErrors } from './peer-errors.ts';

it('sends at most one error per code in ten seconds', async () => {
  const clock = fakeClock();
  const sent: string[] = [];
  const errors = new PeerErrors<{ code: string }>(clock, ({ code }) => void sent.push(code));
  for (const code of ['INVALID', 'LIMITED', 'INVALID', 'INVALID']) errors.report({ code });
  expect(sent).toEqual(['INVALID', 'LIMITED']);
  await clock.advance(9_999);
  errors.report({ code: 'INVALID' });
  expect(sent).toHaveLength(2);
  await clock.advance(1);
  errors.report({ code: 'INVALID' });
  expect(sent).toHaveLength(3);
});
