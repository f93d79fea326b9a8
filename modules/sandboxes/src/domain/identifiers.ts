const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';
const ID_CHARACTERS = 26;

/** `sbx_` and 26 characters of lower-case base32 (RFC 4648 alphabet): 130 random bits, safe in paths and hostnames. */
export function newSandboxId(randomBytes: (sizeBytes: number) => Buffer): string {
  return `sbx_${characters(randomBytes(ID_CHARACTERS))}`;
}

/** `pvw_` and 26 characters of lower-case base32. */
export function newPreviewLinkId(randomBytes: (sizeBytes: number) => Buffer): string {
  return `pvw_${characters(randomBytes(ID_CHARACTERS))}`;
}

/** `sba_` and 26 characters of lower-case base32. */
export function newSandboxAccessId(randomBytes: (sizeBytes: number) => Buffer): string {
  return `sba_${characters(randomBytes(ID_CHARACTERS))}`;
}

/** `vla_` and 26 characters of lower-case base32. */
export function newVolumeAccessId(randomBytes: (sizeBytes: number) => Buffer): string {
  return `vla_${characters(randomBytes(ID_CHARACTERS))}`;
}

/** `spc_` and 26 characters of lower-case base32. */
export function newPullCredentialId(randomBytes: (sizeBytes: number) => Buffer): string {
  return `spc_${characters(randomBytes(ID_CHARACTERS))}`;
}

/** `sec_` and 26 characters of lower-case base32. */
export function newSecretId(randomBytes: (sizeBytes: number) => Buffer): string {
  return `sec_${characters(randomBytes(ID_CHARACTERS))}`;
}

/** `whk_` and 26 characters of lower-case base32. */
export function newWebhookId(randomBytes: (sizeBytes: number) => Buffer): string {
  return `whk_${characters(randomBytes(ID_CHARACTERS))}`;
}

export function isSandboxId(text: string): boolean {
  return /^sbx_[a-z2-7]{26}$/.test(text);
}

/** `snp_` and 26 characters of lower-case base32. */
export function newSnapshotId(randomBytes: (sizeBytes: number) => Buffer): string {
  return `snp_${characters(randomBytes(ID_CHARACTERS))}`;
}

/** `vol_` and 26 characters of lower-case base32. */
export function newVolumeId(randomBytes: (sizeBytes: number) => Buffer): string {
  return `vol_${characters(randomBytes(ID_CHARACTERS))}`;
}

/** Whether it is the id of a volume, rather than that of a snapshot of one. */
export function isVolumeId(text: string): boolean {
  return text.startsWith('vol_');
}

/** `vsn_` and 26 characters of lower-case base32. */
export function newVolumeSnapshotId(randomBytes: (sizeBytes: number) => Buffer): string {
  return `vsn_${characters(randomBytes(ID_CHARACTERS))}`;
}

export function isSnapshotId(text: string): boolean {
  return /^snp_[a-z2-7]{26}$/.test(text);
}

/** `tpl_` and 26 characters of lower-case base32: a template, or a layer of one. */
export function newTemplateId(randomBytes: (sizeBytes: number) => Buffer): string {
  return `tpl_${characters(randomBytes(ID_CHARACTERS))}`;
}

const ADJECTIVES = [
  'amber',
  'brisk',
  'calm',
  'clear',
  'deft',
  'eager',
  'fond',
  'keen',
  'lucid',
  'mild',
  'neat',
  'swift',
];
const NOUNS = [
  'aspen',
  'brook',
  'cedar',
  'dune',
  'fjord',
  'grove',
  'heron',
  'islet',
  'larch',
  'maple',
  'otter',
  'ridge',
];

/** Generates a default sandbox name: readable, and unlikely to be taken. */
export function newName(randomBytes: (sizeBytes: number) => Buffer): string {
  const bytes = randomBytes(8);
  const pick = (words: readonly string[], index: number): string => words[(bytes[index] ?? 0) % words.length] ?? '';
  return `${pick(ADJECTIVES, 0)}-${pick(NOUNS, 1)}-${characters(bytes.subarray(2, 8))}`;
}

/** 1 to 64 characters of letters, digits, `_` and `-`, starting with a letter or digit. */
export const NAME_PATTERN = '^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$';

/**
 * The sandbox's hostname, derived from its name. RFC 1123 is stricter: lower case, no underscore, no dash at the end.
 */
export function hostnameOf(name: string): string {
  return (
    name
      .toLowerCase()
      .replaceAll('_', '-')
      .slice(0, 63)
      .replace(/(?<!-)-+$/, '') || 'sandbox'
  );
}

function characters(bytes: Buffer): string {
  return [...bytes].map((byte) => ALPHABET[byte % 32]).join('');
}
