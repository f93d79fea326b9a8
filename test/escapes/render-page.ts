import type { EscapeCase } from './escape-case.ts';
import type { EscapeGroup } from './escape-table.ts';
import { fileCases } from './file-cases.ts';
import { kernelCases } from './kernel-cases.ts';
import { networkCases } from './network-cases.ts';
import { LEFT_ON_PODS } from './on-pods.ts';
import { WITHIN_GVISOR } from './own-kernel.ts';
import { processCases } from './process-cases.ts';
import { resourceCases } from './resource-cases.ts';
import { volumeCases } from './volume-cases.ts';
import { secretCases } from './secret-cases.ts';

const GROUPS: readonly (readonly [heading: string, group: EscapeGroup, cases: readonly EscapeCase[]])[] = [
  ['The kernel', 'kernel', kernelCases()],
  ['Processes', 'processes', processCases()],
  ['Files', 'files', fileCases()],
  ['The network', 'network', networkCases()],
  ['Secrets', 'secrets', secretCases()],
  ['Volumes', 'volumes', volumeCases()],
  ['Resources', 'resources', resourceCases({ count: 60_000, diskMb: 16 })],
];

/**
 * Renders docs/sandbox-escapes.md. The suites fail if an attempt succeeds, so every row of a covered driver is refused.
 */
export function renderEscapesPage(): string {
  const total = GROUPS.reduce((sum, [, , cases]) => sum + cases.length, 0);
  const lines = [
    '# Sandbox escapes',
    `See what a program in a sandbox can try, and how each driver responds. The tests make all ${total} attempts on the drivers \`local\` and`,
    '`docker`, and behind gVisor on the `local` driver, and fail if one succeeds. Each attempt has a control that succeeds without the',
    "protection. *Stays within*: gVisor's own kernel, which serves one sandbox only, answers the attempt, so the host is not affected. `-`: not",
    'attempted on the driver `kubernetes`, because it depends on the cluster: its network plugin, the `podPidsLimit` and evictions',
    '([sandboxes-on-kubernetes.md](sandboxes-on-kubernetes.md#isolation)).',
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
  for (const [heading, group, cases] of GROUPS) {
    lines.push(
      '',
      `## ${heading}`,
      '| attempt: a sandbox … | `local` | `docker` | gVisor | `kubernetes` |',
      '| --- | --- | --- | --- | --- |',
    );
    for (const { title } of cases) {
      const within = WITHIN_GVISOR[title];
      const gvisor = within === undefined ? 'refused' : `stays within: ${within}`;
      lines.push(
        `| ${title.replaceAll('|', '\\|')} | refused | refused | ${gvisor} | ${LEFT_ON_PODS.includes(group) ? '-' : 'refused'} |`,
      );
    }
  }
  return `${lines.join('\n')}\n`;
}

if (process.argv[1] === import.meta.filename) process.stdout.write(renderEscapesPage());
