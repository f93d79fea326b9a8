import { compareNumbers, compareTimes, inAddressRange } from './comparisons.ts';
import { matchesWildcard } from './wildcard.ts';

/** The request's values for a condition key (lower case), such as `aws:sourceip`. Undefined if it has none. */
export type ConditionValues = (key: string) => readonly string[] | undefined;

export interface Condition {
  readonly operator: string;
  /** True if a request without the key also matches (`…IfExists`). */
  readonly ifExists: boolean;
  readonly quantifier: 'for-all-values' | 'for-any-value' | null;
  /** Lower case. */
  readonly key: string;
  readonly values: readonly string[];
}

type Compare = (actual: string, wanted: string) => boolean;

const sameText: Compare = (actual, wanted) => actual === wanted;
const sameLetters: Compare = (actual, wanted) => actual.toLowerCase() === wanted.toLowerCase();
const likeText: Compare = (actual, wanted) => matchesWildcard(wanted, actual);

/** The positive operators. `NEGATES` maps the negative ones to these. */
const COMPARISONS: Readonly<Record<string, Compare>> = {
  StringEquals: sameText,
  StringEqualsIgnoreCase: sameLetters,
  StringLike: likeText,
  NumericEquals: compareNumbers((order) => order === 0),
  NumericLessThan: compareNumbers((order) => order < 0),
  NumericLessThanEquals: compareNumbers((order) => order <= 0),
  NumericGreaterThan: compareNumbers((order) => order > 0),
  NumericGreaterThanEquals: compareNumbers((order) => order >= 0),
  DateEquals: compareTimes((order) => order === 0),
  DateLessThan: compareTimes((order) => order < 0),
  DateLessThanEquals: compareTimes((order) => order <= 0),
  DateGreaterThan: compareTimes((order) => order > 0),
  DateGreaterThanEquals: compareTimes((order) => order >= 0),
  Bool: sameLetters,
  BinaryEquals: sameText,
  IpAddress: inAddressRange,
  ArnEquals: likeText,
  ArnLike: likeText,
};

const NEGATES: Readonly<Record<string, string>> = {
  StringNotEquals: 'StringEquals',
  StringNotEqualsIgnoreCase: 'StringEqualsIgnoreCase',
  StringNotLike: 'StringLike',
  NumericNotEquals: 'NumericEquals',
  DateNotEquals: 'DateEquals',
  NotIpAddress: 'IpAddress',
  ArnNotEquals: 'ArnEquals',
  ArnNotLike: 'ArnLike',
};

export function isOperator(name: string): boolean {
  return name === 'Null' || Object.hasOwn(COMPARISONS, name) || Object.hasOwn(NEGATES, name);
}

export function holds(condition: Condition, valuesOf: ConditionValues): boolean {
  const actual = valuesOf(condition.key) ?? [];
  if (condition.operator === 'Null') {
    return condition.values.some((value) => (value.toLowerCase() === 'true') === (actual.length === 0));
  }
  const negated = NEGATES[condition.operator];
  const compare = COMPARISONS[negated ?? condition.operator];
  if (compare === undefined) return false;
  if (actual.length === 0) {
    if (condition.quantifier === 'for-any-value') return condition.ifExists;
    // A missing value differs from every value, and all of no values match.
    return condition.ifExists || negated !== undefined || condition.quantifier === 'for-all-values';
  }
  const fits = (value: string): boolean =>
    condition.values.some((wanted) => compare(value, wanted)) === (negated === undefined);
  return condition.quantifier === 'for-all-values' || (condition.quantifier === null && negated !== undefined)
    ? actual.every(fits)
    : actual.some(fits);
}
