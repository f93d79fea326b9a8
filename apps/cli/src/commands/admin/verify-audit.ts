import { AppError } from '@svc/errors';
import { AUDIT_BREAK_REASONS, verifyAudit, type AuditChainPoint, type AuditChainReport } from '@svc/platform';
import type { Command } from 'commander';
import { readConfiguration } from '../../configuration.ts';

interface AuditFlags {
  data?: string;
  config?: string;
  since?: string;
  json?: boolean;
}

/** `svc admin verify-audit`: exits with 1 if the log was modified. */
export function registerAuditCommand(admin: Command): void {
  admin
    .command('verify-audit')
    .description('Verify the audit log; exits with 1 and lists the affected rows on tampering')
    .option('--since <head>', 'Head printed by an earlier run; the log must still contain it')
    .option('--data <dir>', 'Data folder (default ./data)')
    .option('--config <file>', 'Configuration file (YAML)')
    .option('--json', 'Print JSON')
    .action(async (flags: AuditFlags) => {
      const report = await verifyAudit(readConfiguration(flags).value, parseAnchor(flags));
      process.stdout.write(flags.json === true ? `${JSON.stringify(report)}\n` : `${renderLines(report).join('\n')}\n`);
      if (!report.holds) process.exitCode = 1;
    });
}

function renderLines({ holds, rows, head, purged, breaks }: AuditChainReport): string[] {
  const lines = breaks.map(({ sequence, reason }) =>
    sequence === 0
      ? `BROKEN: ${AUDIT_BREAK_REASONS[reason]}`
      : `BROKEN at row ${sequence}: ${AUDIT_BREAK_REASONS[reason]}`,
  );
  const removed = (purged?.days ?? []).map(
    (each) =>
      `purged on ${each.day}: ${each.rows} rows through ${each.through}, of ${each.oldest} to ${each.newest}, by ${each.rule}`,
  );
  if (purged !== null) removed.push(`${purged.rows} rows purged in all, each verified before`);
  if (!holds) return [...lines, ...removed, `${rows} rows read: the audit log is NOT what the platform wrote`];
  return [
    ...removed,
    `${rows} rows read: the audit log is what the platform wrote`,
    ...(head === null ? [] : [`head ${head.sequence}:${head.mac}`]),
  ];
}

function parseAnchor({ since }: AuditFlags): AuditChainPoint | undefined {
  if (since === undefined) return undefined;
  const match = /^(\d{1,15}):([0-9a-f]{64})$/.exec(since);
  if (match !== null) return { sequence: Number(match[1]), mac: match[2] ?? '' };
  throw new AppError({
    code: 'HEAD_INVALID',
    status: 400,
    message: '--since takes a head as `svc admin verify-audit` prints it: NUMBER:HASH',
  });
}
