/** Why a name cannot be taken; undefined for a good one and for none yet. */
export function nameFault(name: string): string | undefined {
  if (name === '') return undefined;
  const odd = /[^a-z0-9-]/.exec(name)?.[0];
  if (odd === undefined) return undefined;
  if (/[A-Z]/.test(odd)) return `Use small letters: “${odd}” is a capital.`;
  return odd.trim() === '' ? 'A name has no spaces. Use a hyphen.' : `“${odd}” cannot be in a name.`;
}
