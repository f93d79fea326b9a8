/** Why a name cannot be taken; undefined for a good one and for none yet. */
export function nameFault(name: string): string | undefined {
  if (name === '') return undefined;
  const odd = /[^a-z0-9-]/.exec(name)?.[0];
  if (odd === undefined) return undefined;
  if (/[A-Z]/.test(odd)) return `Use lowercase letters: “${odd}” is uppercase.`;
  return odd.trim() === '' ? 'Spaces are not allowed. Use a hyphen.' : `“${odd}” is not allowed.`;
}
