import { makeAuthority } from '@svc/certificates';
import type { EscapeCase } from './escape-case.ts';
import type { Ground, Sandbox } from './ground.ts';
import type { Outcome } from './outcome.ts';
import { WORD } from './outside.ts';

const SECRET_HALVES = ['never-in', 'side-7319'] as const;
const PLACES = '/bin /etc /home /root /run /sbin /tmp /usr /var';

export function secretCases(): EscapeCase[] {
  return [
    {
      title: 'finds a secret that is added to its requests',
      attempt: async (ground) => search(await keyed(ground), SECRET_HALVES),
      control: async (ground) => {
        const sandbox = await keyed(ground);
        await sandbox.shell('printf placed-inside > /root/placed');
        return search(sandbox, ['placed-', 'inside']);
      },
    },
    {
      title: 'reaches the platform through the address of the secret gateway',
      attempt: async (ground) =>
        (await keyed(ground)).probe('connect', 'gateway', String(ground.outside.platformPort), WORD),
      control: async ({ host, outside }) =>
        host('connect', outside.hostAddresses[0] ?? '', String(outside.platformPort), WORD),
    },
  ];
}

async function keyed(ground: Ground): Promise<Sandbox> {
  const sandbox = await ground.sandbox('keyed');
  const rule = { host: 'api.example.com', header: 'x-key', query: null, insecure: true };
  const { driver } = ground;
  if (driver.applyRules === undefined) throw new Error('the driver adds no secrets');
  await driver.applyRules(sandbox.spec.id, {
    workspaceUuid: sandbox.spec.id,
    rules: [{ ...rule, content: SECRET_HALVES.join('') }],
    authority: await makeAuthority('svc sandbox egress', new Date()),
  });
  return sandbox;
}

/** Looks for a text that the command does not contain itself, in files, environments and command lines. */
async function search({ shell }: Sandbox, [start, end]: readonly [string, string]): Promise<Outcome> {
  const script = `w=${start}; w=$w${end}; echo "$w" | grep -rlaF -f - ${PLACES} /proc/[0-9]*/environ /proc/[0-9]*/cmdline`;
  const { stdout } = await shell(`${script} 2>/dev/null`);
  return { done: stdout.trim() !== '', detail: stdout.trim() };
}
