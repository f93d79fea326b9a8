/** Why a name is invalid; undefined for a valid or empty one. */
export function nameFault(name: string): string | undefined {
  if (name === '') return undefined;
  const odd = /[^a-z0-9-]/.exec(name)?.[0];
  if (odd === undefined) return undefined;
  if (/[A-Z]/.test(odd)) return `Use lowercase letters: “${odd}” is uppercase.`;
  return odd.trim() === '' ? 'Spaces are not allowed. Use a hyphen.' : `“${odd}” is not allowed.`;
}
