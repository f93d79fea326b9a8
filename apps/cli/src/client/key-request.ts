import type { KeyPermission, NewAccessKey } from '@svc/sdk';
import type { Command } from 'commander';
import { usageFailure } from './command-failure.ts';

/** Permissions of a new access key; the same flags in every command that creates one. */
export interface KeyFlags {
  label?: string;
  permission?: string[];
  bucket?: string[];
  expires?: string;
}

const DURATION = /^(\d{1,6})(m|h|d)$/;
const UNIT_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

export function addKeyOptions(command: Command): Command {
  return command
    .option('--label <text>', 'Label of the key')
    .option('--permission <name...>', 'Permissions: read, write, admin (default read and write)')
    .option('--bucket <name...>', 'Limit the key to these buckets (default all)')
    .option('--expires <when>', 'Expiry: a duration such as 12h or 30d, or a time such as 2027-01-31T00:00:00Z');
}

export function readKeyRequest(flags: KeyFlags, nowMs: number, defaultLabel: string): NewAccessKey {
  const permissions = flags.permission?.flatMap((each) => each.split(',')).map(toPermission);
  return {
    label: flags.label ?? defaultLabel,
    ...(permissions === undefined ? {} : { permissions }),
    ...(flags.bucket === undefined ? {} : { buckets: flags.bucket.flatMap((each) => each.split(',')) }),
    ...(flags.expires === undefined ? {} : { expires_at: readMoment(flags.expires, nowMs) }),
  };
}

/** Parses a duration from now, or a timestamp. */
export function readMoment(text: string, nowMs: number): string {
  const timeMs = DURATION.test(text) ? nowMs + readDurationMs(text) : Date.parse(text);
  if (Number.isNaN(timeMs))
    throw usageFailure(
      `${JSON.stringify(text)} is not a valid time`,
      'use a value such as 12h, 30d or 2027-01-31T00:00:00Z',
    );
  return new Date(timeMs).toISOString();
}

/** Parses `90s`, `15m`, `12h`, `7d`; a plain number means seconds. */
export function readDurationMs(text: string): number {
  if (/^\d{1,9}s?$/.test(text)) return Number.parseInt(text, 10) * 1000;
  const [, amount, unit] = DURATION.exec(text) ?? [];
  const unitMs = UNIT_MS[unit ?? ''];
  if (amount === undefined || unitMs === undefined)
    throw usageFailure(`${JSON.stringify(text)} is not a valid time`, 'use a value such as 90s, 15m, 12h or 7d');
  return Number(amount) * unitMs;
}

function toPermission(name: string): KeyPermission {
  if (name === 'read' || name === 'write' || name === 'admin') return name;
  throw usageFailure(`${JSON.stringify(name)} is not a permission`, 'use read, write, or admin');
}
