import { storeErrors } from '../errors.ts';

const MIN_LENGTH = 3;
const MAX_LENGTH = 63;

/**
 * Applies the management API's rule: lower case, with any run of other characters replaced by one hyphen. Throws
 * `InvalidBucketName`.
 */
export function sanitizeBucketName(wanted: string): string {
  const name = wanted
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
  assertBucketName(name);
  return name;
}

const FORK_DIGITS = '0123456789abcdefghijklmnopqrstuvwxyz';
const FORK_LENGTH = 8;

/** A free name for a fork: the source's, shortened if necessary, `-fork-` and random characters. */
export function forkName(source: string, random: (size: number) => Buffer): string {
  const id = Array.from(random(FORK_LENGTH), (byte) => FORK_DIGITS[byte % FORK_DIGITS.length]).join('');
  const suffix = `-fork-${id}`;
  return `${source.slice(0, MAX_LENGTH - suffix.length).replace(/(?<![^a-z0-9])[^a-z0-9]+$/, '')}${suffix}`;
}

const LABEL = '[a-z0-9](?:[a-z0-9-]*[a-z0-9])?';
const NAME = new RegExp(String.raw`^${LABEL}(?:\.${LABEL})*$`);
const ADDRESS = /^\d+(?:\.\d+){3}$/;

/** Whether the name is a valid bucket name. */
export function isBucketName(name: string): boolean {
  const fits = name.length >= MIN_LENGTH && name.length <= MAX_LENGTH;
  return fits && NAME.test(name) && !ADDRESS.test(name);
}

/**
 * Validates a name for the S3 plane with the rules of S3: a lower-case hostname, but not an address. Never alters the
 * name.
 */
export function assertBucketName(name: string): void {
  if (!isBucketName(name)) {
    throw storeErrors.InvalidBucketName({
      details: {
        resource: name.slice(0, 128),
        field: 'name',
        reason: 'must be 3 to 63 characters of a-z, 0-9, - and .',
      },
    });
  }
}
