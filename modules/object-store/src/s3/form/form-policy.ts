import { storeErrors } from '../../errors.ts';

/** What a signed form allows: the expiry, the size, and the fields with their values. */
export interface FormPolicy {
  expiresAtMs: number;
  /** Size of the file. */
  sizeRange: { minBytes: number; maxBytes: number } | null;
  conditions: readonly FieldCondition[];
}

export interface FieldCondition {
  operator: 'eq' | 'starts-with';
  /** Lower case. */
  field: string;
  value: string;
  /** The condition as text, for the error message. */
  text: string;
}

const EXPIRATION = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$/;
/** Fields that a policy need not list: its carrier fields, and checksums, which only the sender of the file knows. */
const EXEMPT =
  /^(policy|signature|awsaccesskeyid|file|x-amz-(algorithm|credential|date|signature|checksum-.+)|x-ignore-.*)$/;

/** Throws `InvalidPolicyDocument` with the reason. */
export function parseFormPolicy(encoded: string): FormPolicy {
  const document = parseJson(Buffer.from(encoded, 'base64').toString('utf8'));
  const { expiration, conditions } = document;
  if (typeof expiration !== 'string') throw invalid('Policy missing expiration.');
  const expiresAtMs = EXPIRATION.test(expiration) ? Date.parse(expiration) : Number.NaN;
  if (Number.isNaN(expiresAtMs)) throw invalid(`Invalid 'expiration' value: '${expiration}'`);
  if (!Array.isArray(conditions)) throw invalid('Policy missing conditions.');
  const fields: FieldCondition[] = [];
  let sizeRange: FormPolicy['sizeRange'] = null;
  for (const condition of conditions as readonly unknown[]) {
    const parsed = readCondition(condition);
    if ('minBytes' in parsed) sizeRange = parsed;
    else fields.push(parsed);
  }
  return { expiresAtMs, sizeRange, conditions: fields };
}

/** Throws `AccessDenied` for the first field that the policy does not allow. The bucket counts as a field. */
export function assertFormAllowed(policy: FormPolicy, fields: ReadonlyMap<string, string>, nowMs: number): void {
  if (policy.expiresAtMs <= nowMs) throw refused('Policy expired.');
  for (const condition of policy.conditions) {
    if (!isMet(condition, fields.get(condition.field) ?? '')) {
      throw refused(`Policy Condition failed: ${condition.text}`);
    }
  }
  const named = new Set(policy.conditions.map(({ field }) => field));
  for (const name of fields.keys()) {
    if (!named.has(name) && !EXEMPT.test(name)) throw refused(`Extra input fields: ${name}`);
  }
}

export function assertFormSize({ sizeRange }: FormPolicy, sizeBytes: number): void {
  if (sizeRange === null) return;
  const { minBytes, maxBytes } = sizeRange;
  if (sizeBytes > maxBytes) {
    throw storeErrors.EntityTooLarge({ details: { proposedSize: sizeBytes, maxSizeAllowed: maxBytes } });
  }
  if (sizeBytes < minBytes) {
    throw storeErrors.EntityTooSmall({ details: { proposedSize: sizeBytes, minSizeAllowed: minBytes } });
  }
}

function isMet({ operator, field, value }: FieldCondition, actual: string): boolean {
  if (operator === 'eq') return actual === value;
  // `Content-Type` may list several types; each must start with the value.
  const each = field === 'content-type' ? actual.split(',').map((text) => text.trim()) : [actual];
  return each.every((text) => text.startsWith(value));
}

function readCondition(condition: unknown): FieldCondition | { minBytes: number; maxBytes: number } {
  if (Array.isArray(condition)) return readList(condition as readonly unknown[]);
  if (typeof condition !== 'object' || condition === null) throw invalid('Invalid condition.');
  const entries: [string, unknown][] = Object.entries(condition);
  const [entry] = entries;
  if (entry === undefined || entries.length !== 1) throw invalid('Invalid Simple-Condition: one field is expected');
  const [field, value] = entry;
  if (typeof value !== 'string') throw invalid('Invalid Simple-Condition: value must be a string');
  const text = `["eq", ${JSON.stringify(`$${field}`)}, ${JSON.stringify(value)}]`;
  return { operator: 'eq', field: field.toLowerCase(), value, text };
}

function readList(list: readonly unknown[]): FieldCondition | { minBytes: number; maxBytes: number } {
  const [first, field, value] = list;
  const operator = typeof first === 'string' ? first.toLowerCase() : '';
  if (list.length !== 3) throw invalid(`${operator} requires two arguments.`);
  if (operator === 'content-length-range') {
    const [minBytes, maxBytes] = [toBytes(field), toBytes(value)];
    return { minBytes, maxBytes };
  }
  if (operator !== 'eq' && operator !== 'starts-with') throw invalid(`Invalid operator: ${operator}`);
  if (typeof field !== 'string' || !field.startsWith('$') || typeof value !== 'string') {
    throw invalid(`Invalid arguments of ${operator}`);
  }
  return { operator, field: field.slice(1).toLowerCase(), value, text: JSON.stringify(list) };
}

function toBytes(value: unknown): number {
  const bytes = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value;
  if (typeof bytes === 'number' && Number.isSafeInteger(bytes) && bytes >= 0) return bytes;
  throw invalid('Invalid arguments of content-length-range');
}

function parseJson(text: string): Readonly<Record<string, unknown>> {
  try {
    const document: unknown = JSON.parse(text);
    if (typeof document !== 'object' || document === null) throw invalid('Invalid JSON.');
    return document as Readonly<Record<string, unknown>>; // a JSON object
  } catch (cause) {
    throw storeErrors.InvalidPolicyDocument({ details: { reason: 'Invalid JSON.' }, cause });
  }
}

function invalid(reason: string): Error {
  return storeErrors.InvalidPolicyDocument({ details: { reason } });
}

function refused(reason: string): Error {
  return storeErrors.AccessDenied({ details: { reason: `Invalid according to Policy: ${reason}` } });
}
