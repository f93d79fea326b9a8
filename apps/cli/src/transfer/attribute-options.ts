import type { Command } from 'commander';
import { usageFailure } from '../client/command-failure.ts';
import { contentTypeOf } from './content-type.ts';

export interface AttributeFlags {
  contentType?: string;
  cacheControl?: string;
  metadata?: string[];
}

export function addAttributeOptions(command: Command): Command {
  return command
    .option('--content-type <type>', 'of what is uploaded (default: by the ending of the name)')
    .option('--cache-control <text>', 'of what is uploaded')
    .option('--metadata <name=value...>', 'of what is uploaded');
}

/** The headers of an upload of the file with this name. */
export function headersFor(flags: AttributeFlags): (name: string) => Record<string, string> {
  const fixed: Record<string, string> = {};
  if (flags.cacheControl !== undefined) fixed['cache-control'] = flags.cacheControl;
  for (const each of flags.metadata ?? []) {
    const [name = '', ...rest] = each.split('=');
    if (!/^[A-Za-z0-9-]+$/.test(name) || rest.length === 0)
      throw usageFailure(`${JSON.stringify(each)} is not NAME=VALUE`);
    fixed[`x-amz-meta-${name.toLowerCase()}`] = rest.join('=');
  }
  for (const value of [...Object.values(fixed), flags.contentType ?? '']) {
    if (!/^[ -~]*$/.test(value)) throw usageFailure(`${JSON.stringify(value)} cannot stand in a header`);
  }
  return (name) => ({ 'content-type': flags.contentType ?? contentTypeOf(name), ...fixed });
}
