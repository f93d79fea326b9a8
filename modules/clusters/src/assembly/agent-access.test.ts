import { CLOSE_CODES } from '@svc/protocol';
import { fakeClock } from '@svc/testing';
import { expect, it } from 'vitest';
import { AgentAccess, type AgentAccessOptions } from './agent-access.ts';

type Held = ReturnType<AgentAccessOptions['tunnels']['all']>[number];
type Cluster = Awaited<ReturnType<AgentAccessOptions['clusters']['findById']>>;

/** Access of agents whose tunnels are `held`, and what it closed. */
function accessOf(held: Readonly<Record<string, string>>, clusters: readonly string[], tokens: readonly string[]) {
  const closed: string[] = [];
  const tunnels = Object.entries(held).map(([clusterId, tokenHash]) => ({ clusterId, tokenHash }) as Held);
  const access = new AgentAccess({
    clusters: {
      findById: async (id) => (clusters.includes(id) ? ({ id } as NonNullable<Cluster>) : undefined),
      validTokens: async (hashes) => new Set(hashes.filter((hash) => tokens.includes(hash))),
    },
    connections: {
      newest: () => [],
      closeCluster: (id, code) => void closed.push(`${id} ${code}`),
      closeTokens: (hashes) => void closed.push(`tokens ${[...hashes].join(' ')}`),
    },
    tunnels: { all: () => tunnels, closeCluster: () => undefined, closeTokens: () => undefined },
    clock: fakeClock(),
  });
  return { access, closed };
}

it('tells agents of removed clusters from those of revoked tokens, if only the missing tokens are noticed', async () => {
  const held = { kept: 'valid', removed: 'gone-with-it', rotated: 'revoked' };
  const { access, closed } = accessOf(held, ['kept', 'rotated'], ['valid']);
  await access.recheckAll();
  expect(closed).toEqual([`removed ${CLOSE_CODES.forbidden}`, 'tokens revoked']);
});

it('closes nothing while all tokens are valid', async () => {
  const { access, closed } = accessOf({ kept: 'valid' }, ['kept'], ['valid']);
  await access.recheckAll();
  await access.recheck('kept');
  expect(closed).toEqual([]);
});
