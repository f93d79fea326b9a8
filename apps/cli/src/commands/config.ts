import { configJsonSchema, renderConfig, shownKeys } from '@svc/config';
import { platformConfigSchema, renderConfigurationReference } from '@svc/platform';
import type { Command } from 'commander';
import { readConfiguration } from '../configuration.ts';

/** `svc config check|show|schema|reference`: all of them redact secrets. */
export function registerConfigCommand(program: Command): void {
  const config = program.command('config').description('Check or show the configuration');
  config
    .command('check')
    .description('Validate the configuration and report all errors')
    .option('--config <file>', 'Configuration file (YAML)')
    .action((flags: { config?: string }) => {
      const loaded = readConfiguration(flags);
      for (const warning of loaded.warnings) process.stderr.write(`warning: ${warning}\n`);
      process.stdout.write('The configuration is valid\n');
    });
  config
    .command('show')
    .description('Show every value and its source')
    .option('--config <file>', 'Configuration file (YAML)')
    .option('--json', 'Print JSON')
    .action((flags: { config?: string; json?: boolean }) => {
      const loaded = readConfiguration(flags);
      process.stdout.write(
        flags.json === true ? `${JSON.stringify(shownKeys(loaded), null, 2)}\n` : renderConfig(loaded),
      );
    });
  config
    .command('schema')
    .description('Print the JSON Schema of the configuration file')
    .action(() => {
      const schema = configJsonSchema(platformConfigSchema, { title: 'svc configuration' });
      process.stdout.write(`${JSON.stringify(schema, null, 2)}\n`);
    });
  config
    .command('reference')
    .description('Print the configuration reference (docs/configuration.md)')
    .action(() => {
      process.stdout.write(renderConfigurationReference());
    });
}
