import { configReference, type ReferenceRow } from '@svc/config';
import { platformConfigSchema } from './config.ts';

/** Renders `docs/configuration.md`, every configuration key, from the schema alone. */
export function renderConfigurationReference(): string {
  const rows = configReference(platformConfigSchema, 'SVC').map(renderRow);
  return [
    '# Configuration',
    'Configure the platform with a YAML file (`--config FILE` or `SVC_CONFIG`), environment variables and flags. Environment variables take',
    'precedence over the file, and flags over both:',
    '',
    '```console',
    '$ cat platform.yaml',
    'public_url: https://svc.example.com',
    'sandboxes:',
    '  max_per_caller: 50',
    '$ svc config check --config platform.yaml     # reports all errors at once',
    '$ SVC_PORT=5000 svc up --config platform.yaml',
    '```',
    '',
    'Unknown keys are refused. `svc config show` prints each value with its source and redacts secrets. To read a secret from a file, set its',
    'variable with the suffix `_FILE` to the path, such as `SVC_MASTER_KEY_FILE`.',
    '',
    'This page is generated from the schema by `svc config reference`; a test fails if it is stale.',
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
