import { configJsonSchema, renderConfig, shownKeys } from '@svc/config';
import { platformConfigSchema, renderConfigurationReference } from '@svc/platform';
import type { Command } from 'commander';
import { readConfiguration } from '../configuration.ts';

/** `svc config check|show|schema|reference`: secrets are redacted in all of them. */
export function registerConfigCommand(program: Command): void {
  const config = program.command('config').description('check or show the configuration');
  config
    .command('check')
    .description('read the configuration from all sources and report every fault')
    .option('--config <file>', 'configuration file (YAML)')
    .action((flags: { config?: string }) => {
      const loaded = readConfiguration(flags);
      for (const warning of loaded.warnings) process.stderr.write(`warning: ${warning}\n`);
      process.stdout.write('The configuration is valid\n');
    });
  config
    .command('show')
    .description('show every value and where it came from')
    .option('--config <file>', 'configuration file (YAML)')
    .option('--json', 'as JSON')
    .action((flags: { config?: string; json?: boolean }) => {
      const loaded = readConfiguration(flags);
      process.stdout.write(
        flags.json === true ? `${JSON.stringify(shownKeys(loaded), null, 2)}\n` : renderConfig(loaded),
      );
    });
  config
    .command('schema')
    .description('print the JSON Schema of the configuration file')
    .action(() => {
      const schema = configJsonSchema(platformConfigSchema, { title: 'svc configuration' });
      process.stdout.write(`${JSON.stringify(schema, null, 2)}\n`);
    });
  config
    .command('reference')
    .description('print docs/configuration.md')
    .action(() => {
      process.stdout.write(renderConfigurationReference());
    });
}
