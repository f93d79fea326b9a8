import { configReference, type ReferenceRow } from '@svc/config';
import { platformConfigSchema } from './config.ts';

/** Renders `docs/configuration.md`, every configuration key, from the schema alone. */
export function renderConfigurationReference(): string {
  const rows = configReference(platformConfigSchema, 'SVC').map(renderRow);
  return [
    '# Configuration',
    'Sources by rising priority: defaults, the YAML file (`--config FILE` or `SVC_CONFIG`), environment variables, flags. Unknown keys are',
    'refused and all faults are reported together: `svc config check`. `svc config show` prints each value with its source, secrets',
    'redacted. A secret may also stand in a file named by its variable with `_FILE` at the end.',
    '',
    'This page is made from the schema by `svc config reference`; a test fails when it is stale.',
    '',
    '| key | environment | default | meaning |',
    '| --- | --- | --- | --- |',
    ...rows,
    '',
  ].join('\n');
}

function renderRow(row: ReferenceRow): string {
  const environment = row.environmentNames.map((name) => `\`${name}\``).join(', ');
  const cells = [
    `\`${row.path}\``,
    environment,
    row.default === null ? '' : `\`${JSON.stringify(row.default)}\``,
    `${row.description}${row.secret ? ' (secret)' : ''}`,
  ];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}
