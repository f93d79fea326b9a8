import { moveToPostgres } from '@svc/platform';
import type { Command } from 'commander';
import { readConfiguration } from '../configuration.ts';

interface MigrateFlags {
  data?: string;
  config?: string;
  json?: boolean;
}

/** `svc migrate …`: requires read access to the data folder of a platform that does not run. */
export function registerMigrateCommand(program: Command): void {
  const migrate = program.command('migrate').description('Move the data of a stopped platform');
  migrate
    .command('sqlite-to-postgres')
    .description('Move all rows from SQLite to the empty database of SVC_DATABASE_URL, and verify them')
    .option('--data <dir>', 'Data folder (default ./data)')
    .option('--config <file>', 'Configuration file (YAML)')
    .option('--json', 'Print JSON')
    .action(async (flags: MigrateFlags) => {
      const report = await moveToPostgres(readConfiguration(flags).value);
      const rows = report.tables.reduce((sum, table) => sum + table.rows, 0);
      const lines = [
        ...report.tables.map((table) => `${table.table}: ${table.rows} rows, checksum ${table.checksum}`),
        `${report.tables.length === 0 ? 'All' : rows} rows are in ${report.target}; start the platform with database.url from now on`,
      ];
      process.stdout.write(flags.json === true ? `${JSON.stringify(report)}\n` : `${lines.join('\n')}\n`);
    });
}
