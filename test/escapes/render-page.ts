import { fileCases } from './file-cases.ts';
import { kernelCases } from './kernel-cases.ts';
import { networkCases } from './network-cases.ts';
import { WITHIN_GVISOR } from './own-kernel.ts';
import { processCases } from './process-cases.ts';
import { resourceCases } from './resource-cases.ts';
import { volumeCases } from './volume-cases.ts';
import { secretCases } from './secret-cases.ts';

const GROUPS = {
  'The kernel': kernelCases(),
  Processes: processCases(),
  Files: fileCases(),
  'The network': networkCases(),
  Secrets: secretCases(),
  Volumes: volumeCases(),
  Resources: resourceCases({ count: 60_000, diskMb: 16 }),
};

/**
 * Renders docs/sandbox-escapes.md. The suites fail if an attempt succeeds, so every row of a covered driver is refused.
 */
export function renderEscapesPage(): string {
  const total = Object.values(GROUPS).reduce((sum, cases) => sum + cases.length, 0);
  const lines = [
    '# Escapes',
    `What a program in a sandbox may try, and how each driver answers. The tests attempt all ${total} on the \`local\` and the \`docker\``,
    'driver, and behind gVisor on the `local` driver. They fail when one succeeds; each attempt has a control that succeeds where nothing',
    'holds it. gVisor answers some of them by its own kernel, which serves one sandbox alone: these *stay within* the sandbox.',
    '',
    '```sh',
    './svc test escapes.local        # on this machine, as root',
    './svc test escapes.docker       # on a Docker Engine',
    './svc test escapes-gvisor       # behind gVisor, which is built from its Go module',
    '```',
    '',
    'This page is generated from the cases in `test/escapes/`; a test fails when it is stale.',
  ];
  for (const [group, cases] of Object.entries(GROUPS)) {
    lines.push(
      '',
      `## ${group}`,
      '| attempt: a sandbox … | `local` | `docker` | gVisor |',
      '| --- | --- | --- | --- |',
    );
    for (const { title } of cases) {
      const within = WITHIN_GVISOR[title];
      const gvisor = within === undefined ? 'refused' : `stays within: ${within}`;
      lines.push(`| ${title.replaceAll('|', '\\|')} | refused | refused | ${gvisor} |`);
    }
  }
  return `${lines.join('\n')}\n`;
}

if (process.argv[1] === import.meta.filename) process.stdout.write(renderEscapesPage());
