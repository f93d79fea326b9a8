/** What a validator of JSON Schema finds, as Ajv and TypeBox tell it. */
export interface ValidationFinding {
  keyword: string;
  /** JSON Pointer to the value (RFC 6901); empty for the whole. */
  instancePath: string;
  schemaPath: string;
  params: object;
  message?: string | undefined;
}

export interface ValidationIssue {
  /** Dotted, such as `resources.cpu`; the whole is called as the part of the request that it is. */
  field: string;
  issue: string;
}

/** The pattern of text that reaches a process, a path or a column: none of them takes NUL, and JSON can write one. */
export const WITHOUT_NUL = '^[^\\u0000]*$';

/** The findings in words that name the field and what it should be. `part` is `body`, `querystring` and so on. */
export function describeIssues(part: string, findings: readonly ValidationFinding[]): ValidationIssue[] {
  return withoutUnions(findings).map((finding) => ({ field: fieldOf(part, finding), issue: wordsOf(finding) }));
}

/**
 * A value that fits none of several schemas is reported once for each of them and once more for the union. Wanted is
 * what the caller can do about it: the allowed values together, or what is wrong beside "it is not null".
 */
function withoutUnions(findings: readonly ValidationFinding[]): ValidationFinding[] {
  let left: ValidationFinding[] = [];
  for (const finding of findings) {
    if (finding.keyword === 'anyOf') {
      const isBranch = ({ schemaPath }: ValidationFinding): boolean => schemaPath.startsWith(`${finding.schemaPath}/`);
      const branches = left.filter(isBranch);
      left = [...left.filter((each) => !isBranch(each)), ...summaryOf(finding, branches)];
    } else left.push(finding);
  }
  return left;
}

function summaryOf(union: ValidationFinding, branches: ValidationFinding[]): ValidationFinding[] {
  const beyondNull = branches.filter(({ keyword, params }) => keyword !== 'type' || of(params, 'type') !== 'null');
  const wanted = ofTheGivenType(union, beyondNull.length > 0 ? beyondNull : branches);
  if (wanted.length === 0) return [union];
  const isConstant = wanted.every(
    ({ keyword, instancePath }) => keyword === 'const' && instancePath === union.instancePath,
  );
  if (!isConstant) return wanted;
  const allowedValues = wanted.map(({ params }) => of(params, 'allowedValue'));
  return [{ ...union, keyword: 'enum', params: { allowedValues } }];
}

/** A list with one bad item is not told that it should have been a text. */
function ofTheGivenType({ instancePath }: ValidationFinding, branches: ValidationFinding[]): ValidationFinding[] {
  const closer = branches.filter((each) => each.keyword !== 'type' || each.instancePath !== instancePath);
  return closer.length > 0 ? closer : branches;
}

function wordsOf({ keyword, params, message }: ValidationFinding): string {
  switch (keyword) {
    case 'required':
      return 'is required';
    case 'additionalProperties':
      return 'is not known here';
    case 'pattern':
      if (of(params, 'pattern') === WITHOUT_NUL) return 'must not contain NUL';
      break;
    case 'const':
      return `must be ${shown(of(params, 'allowedValue'))}`;
    case 'enum': {
      const values = of(params, 'allowedValues');
      if (Array.isArray(values)) return `must be one of ${values.map(shown).join(', ')}`;
    }
  }
  return message ?? 'is invalid';
}

function shown(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function fieldOf(part: string, { instancePath, params }: ValidationFinding): string {
  const path = instancePath
    .split('/')
    .filter((segment) => segment !== '')
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~')); // RFC 6901, section 3
  const extra =
    of(params, 'missingProperty') ??
    of(params, 'additionalProperty') ??
    first(of(params, 'requiredProperties')) ??
    first(of(params, 'additionalProperties'));
  if (typeof extra === 'string') path.push(extra);
  const field = path.length === 0 ? part : path.join('.');
  return field.slice(0, 200);
}

function first(values: unknown): unknown {
  return Array.isArray(values) ? values[0] : undefined;
}

function of(params: object, name: string): unknown {
  return (params as Readonly<Record<string, unknown>>)[name]; // each keyword has its own; the caller looks at the value
}
