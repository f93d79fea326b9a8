import { fileCases } from './file-cases.ts';
import { kernelCases } from './kernel-cases.ts';
import { networkCases } from './network-cases.ts';
import { processCases } from './process-cases.ts';
import { resourceCases } from './resource-cases.ts';

const GROUPS = {
  'The kernel': kernelCases(),
  Processes: processCases(),
  Files: fileCases(),
  'The network': networkCases(),
  Resources: resourceCases({ count: 60_000, diskMb: 16 }),
};

/** docs/sandbox-escapes.md. The suites fail when an attempt succeeds, so every row of a driver that they cover is refused. */
export function renderEscapesPage(): string {
  const total = Object.values(GROUPS).reduce((sum, cases) => sum + cases.length, 0);
  const lines = [
    '# Escapes',
    `What a program in a sandbox may try, and how each driver answers. The tests attempt all ${total} on the \`local\` and the \`docker\``,
    'driver and fail when one succeeds; each attempt has a control that succeeds where nothing holds it. gVisor has a kernel of its own, and',
    'the table has not been run on it.',
    '',
    '```sh',
    './svc test escapes.local        # on this machine, as root',
    './svc test escapes.docker       # on a Docker Engine',
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
    for (const { title } of cases) lines.push(`| ${title.replaceAll('|', '\\|')} | refused | refused | not run |`);
  }
  return `${lines.join('\n')}\n`;
}

if (process.argv[1] === import.meta.filename) process.stdout.write(renderEscapesPage());
