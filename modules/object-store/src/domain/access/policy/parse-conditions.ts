import { isOperator, type Condition } from './conditions.ts';
import { parseRange } from './comparisons.ts';
import { CONDITION_KEYS } from './condition-keys.ts';
import { malformedPolicy } from './malformed-policy.ts';

const QUANTIFIERS: ReadonlyMap<string, Condition['quantifier']> = new Map([
  ['ForAllValues', 'for-all-values'],
  ['ForAnyValue', 'for-any-value'],
]);

/** `{ "<operator>": { "<key>": "<value>" | ["<value>", …] } }` */
export function readConditions(value: unknown): readonly Condition[] {
  if (value === undefined) return [];
  const conditions: Condition[] = [];
  for (const [operator, keys] of parseEntries(value, 'Condition')) {
    const parsed = readOperator(operator);
    for (const [key, values] of parseEntries(keys, 'Condition')) {
      const condition = { ...parsed, key: readKey(key), values: readValues(values) };
      assertValues(condition);
      conditions.push(condition);
    }
  }
  return conditions;
}

function readOperator(text: string): Pick<Condition, 'operator' | 'ifExists' | 'quantifier'> {
  const colon = text.indexOf(':');
  const quantifier = colon === -1 ? null : QUANTIFIERS.get(text.slice(0, colon));
  const name = text.slice(colon + 1);
  const ifExists = name.endsWith('IfExists') && name !== 'NullIfExists';
  const operator = ifExists ? name.slice(0, -'IfExists'.length) : name;
  if (quantifier === undefined || !isOperator(operator)) throw malformedPolicy(`Invalid Condition type : ${text}`);
  return { operator, ifExists, quantifier };
}

function readKey(text: string): string {
  const key = text.toLowerCase();
  const [family = ''] = key.split('/', 1);
  if (!CONDITION_KEYS.has(family)) throw malformedPolicy('Policy has an invalid condition key');
  return key;
}

function readValues(value: unknown): readonly string[] {
  const listed: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (listed.length === 0) throw malformedPolicy('Policy has an invalid condition value');
  return listed.map((each) => {
    if (typeof each === 'string') return each;
    if (typeof each === 'number' || typeof each === 'boolean') return String(each);
    throw malformedPolicy('Policy has an invalid condition value');
  });
}

function assertValues({ operator, key, values }: Condition): void {
  // With any operator: the key holds an address, so other values could never match.
  const addresses = operator === 'IpAddress' || operator === 'NotIpAddress' || key === 'aws:sourceip';
  if (addresses && values.some((value) => parseRange(value) === null))
    throw malformedPolicy('Invalid IP address in Conditions');
  if (values.some((value) => value.includes('${'))) throw malformedPolicy('Policy variables are not supported');
}

function parseEntries(value: unknown, field: string): [string, unknown][] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw malformedPolicy(`${field} must be a JSON object`);
  }
  return Object.entries(value);
}
