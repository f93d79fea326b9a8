/** The name that the platform makes of what was typed: lower case, every other run of characters a hyphen. */
export function sanitizeBucketName(typed: string): string {
  return typed
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '');
}

/** Why the name that was typed cannot become a bucket's, or undefined. */
export function bucketNameFault(typed: string): string | undefined {
  const name = sanitizeBucketName(typed);
  if (typed === '') return undefined;
  if (name.length < 3) return 'Enter at least 3 letters or digits.';
  if (name.length > 63) return 'Enter at most 63 characters.';
  return undefined;
}
