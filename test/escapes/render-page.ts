import { escapeGroups, type GroupOfCases } from './groups.ts';
import { LACKED_BY_PODS, LEFT_ON_PODS } from './on-pods.ts';
import { LACKED_BY_GVISOR, WITHIN_GVISOR } from './own-kernel.ts';
import { LACKED_BY_DOCKER, type Feature } from './refusal-cases.ts';

const GROUPS = escapeGroups({ count: 60_000, diskMb: 16 });

/**
 * Renders docs/sandbox-escapes.md. The suites fail if an attempt succeeds, so every row of a covered driver is refused.
 */
export function renderEscapesPage(): string {
  const total = GROUPS.reduce((sum, { cases }) => sum + cases.length, 0);
  const lines = [
    '# Sandbox escapes',
    `See what a program in a sandbox can try, and how each driver responds. The tests make all ${total} attempts on the driver \`local\`, those`,
    'that it has the features for on `docker` and behind gVisor on the `local` driver, and fail if one succeeds. Each attempt has a control',
    'that succeeds without the protection. *Unavailable*: the driver does not have what is attacked; the tests check that the platform refuses',
    "it by name. *Stays within*: gVisor's own kernel, which serves one sandbox only, answers the attempt, so the host is not affected. `-`: not",
    'attempted on the driver `kubernetes`, because it depends on the cluster: its network plugin, the `podPidsLimit` and evictions',
    '([sandboxes-on-kubernetes.md](sandboxes-on-kubernetes.md#isolation)). Buckets, SSH and builds are attacked through the platform itself: its',
    'API, its SSH server and an object store.',
    '',
    '```sh',
    './svc test escapes.local        # on this machine, as root',
    './svc test escapes.docker       # on a Docker Engine',
    './svc test escapes-gvisor       # behind gVisor, which is built from its Go module',
    './svc test escapes.kubernetes   # in pods of a real Kubernetes',
    '```',
    '',
    'This page is generated from the cases in `test/escapes/`; a test fails if it is stale.',
  ];
  for (const { heading, cases, ...group } of GROUPS) {
    lines.push(
      '',
      `## ${heading}`,
      '| attempt: a sandbox … | `local` | `docker` | gVisor | `kubernetes` |',
      '| --- | --- | --- | --- | --- |',
    );
    for (const { title } of cases) {
      const within = WITHIN_GVISOR[title];
      const gvisor = within === undefined ? resultOf(group, LACKED_BY_GVISOR) : `stays within: ${within}`;
      const pods = LEFT_ON_PODS.includes(group.group) ? '-' : resultOf(group, LACKED_BY_PODS);
      const results = [resultOf(group, []), resultOf(group, LACKED_BY_DOCKER), gvisor, pods];
      lines.push(`| ${title.replaceAll('|', '\\|')} | ${results.join(' | ')} |`);
    }
  }
  return `${lines.join('\n')}\n`;
}

function resultOf({ feature }: Pick<GroupOfCases, 'feature'>, lacked: readonly Feature[]): string {
  return feature !== null && lacked.includes(feature) ? 'unavailable' : 'refused';
}

if (process.argv[1] === import.meta.filename) process.stdout.write(renderEscapesPage());
