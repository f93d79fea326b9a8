import type { Command } from 'commander';
import { usageFailure } from '../client/command-failure.ts';
import { contentTypeOf } from './content-type.ts';

export interface AttributeFlags {
  contentType?: string;
  cacheControl?: string;
  contentDisposition?: string;
  contentEncoding?: string;
  contentLanguage?: string;
  expires?: string;
  metadata?: string[];
  tag?: string[];
  acl?: string;
}

/** Attributes given for the objects to store. */
export interface GivenAttributes {
  /** Headers stored with the object and returned with it. */
  described: Readonly<Record<string, string>>;
  /** Tags in the format of the request header. */
  tagging: string | null;
  acl: string | null;
}

/** Canned ACLs (user guide, "Access control list overview"). */
const ACLS: ReadonlySet<string> = new Set([
  'private',
  'public-read',
  'public-read-write',
  'authenticated-read',
  'bucket-owner-read',
  'bucket-owner-full-control',
]);

export function addAttributeOptions(command: Command): Command {
  return command
    .option('--content-type <type>', 'Content-Type (default: by file extension; copies keep theirs)')
    .option('--cache-control <text>', 'Cache-Control')
    .option('--content-disposition <text>', 'Content-Disposition, such as: attachment; filename="a.pdf"')
    .option('--content-encoding <text>', 'Content-Encoding, such as gzip for compressed content')
    .option('--content-language <text>', 'Content-Language, such as de')
    .option('--expires <time>', 'Expires header: a date')
    .option('--metadata <name=value>', 'User metadata; repeatable', collect)
    .option('--tag <name=value>', 'Object tag; repeatable, up to 10', collect)
    .option('--acl <name>', 'Canned ACL, such as private or public-read');
}

export function readAttributes(flags: AttributeFlags): GivenAttributes {
  const { contentType, cacheControl, contentDisposition, contentEncoding, contentLanguage, acl = null } = flags;
  const named = {
    'content-type': contentType,
    'cache-control': cacheControl,
    'content-disposition': contentDisposition,
    'content-encoding': contentEncoding,
    'content-language': contentLanguage,
    expires: flags.expires === undefined ? undefined : readExpires(flags.expires),
  };
  const described: Record<string, string> = {};
  for (const [name, value] of Object.entries(named)) if (value !== undefined) described[name] = value;
  for (const each of flags.metadata ?? []) {
    const [name, value] = readPair(each);
    if (!/^[A-Za-z0-9-]+$/.test(name)) throw usageFailure(`${JSON.stringify(name)} is not a valid metadata name`);
    described[`x-amz-meta-${name.toLowerCase()}`] = value;
  }
  for (const value of Object.values(described)) {
    if (!/^[ -~]*$/.test(value)) throw usageFailure(`${JSON.stringify(value)} is not allowed in a header`);
  }
  if (acl !== null && !ACLS.has(acl))
    throw usageFailure(`there is no ACL ${JSON.stringify(acl)}`, [...ACLS].join(', '));
  const tags = (flags.tag ?? []).map((each) => readPair(each).map(encodeURIComponent).join('='));
  return { described, tagging: tags.length === 0 ? null : tags.join('&'), acl };
}

/** Returns the headers for uploading a file of this name. */
export function uploadHeaders({ described, ...given }: GivenAttributes, name: string): Record<string, string> {
  return { 'content-type': contentTypeOf(name), ...described, ...grantHeaders(given) };
}

/** Returns request headers that are not headers of the object. */
export function grantHeaders({ tagging, acl }: Pick<GivenAttributes, 'tagging' | 'acl'>): Record<string, string> {
  return { ...(tagging === null ? {} : { 'x-amz-tagging': tagging }), ...(acl === null ? {} : { 'x-amz-acl': acl }) };
}

function readPair(text: string): [string, string] {
  const [name = '', ...rest] = text.split('=');
  if (name === '' || rest.length === 0) throw usageFailure(`${JSON.stringify(text)} is not NAME=VALUE`);
  return [name, rest.join('=')];
}

function readExpires(text: string): string {
  const timeMs = Date.parse(text);
  if (Number.isNaN(timeMs))
    throw usageFailure(`${JSON.stringify(text)} is not a valid date`, 'use a date such as 2030-01-31');
  return new Date(timeMs).toUTCString();
}

function collect(value: string, before: string[] | undefined): string[] {
  return [...(before ?? []), value];
}
