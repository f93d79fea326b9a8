/** A JSON Schema error, as reported by Ajv and TypeBox. */
export interface ValidationFinding {
  keyword: string;
  /** JSON Pointer to the value (RFC 6901); empty for the root. */
  instancePath: string;
  schemaPath: string;
  params: object;
  message?: string | undefined;
}

/** An invalid field and what it should be. */
export interface ValidationIssue {
  /** Dotted path, such as `resources.cpu`; the root is named after its part of the request. */
  field: string;
  issue: string;
}

/** Pattern for text passed to a process, path or column: none of them accepts NUL, which JSON can encode. */
export const WITHOUT_NUL = '^[^\\u0000]*$';

/** Describes each error: the field and what it should be. `part` is `body`, `querystring` and so on. */
export function describeIssues(part: string, findings: readonly ValidationFinding[]): ValidationIssue[] {
  return withoutUnions(findings).map((finding) => ({ field: fieldOf(part, finding), issue: describeFinding(finding) }));
}

/**
 * Collapses union errors. Validators report each branch plus the union itself; callers need what they can act on: all
 * allowed values together, or the error of the branch that is not null.
 */
function withoutUnions(findings: readonly ValidationFinding[]): ValidationFinding[] {
  let left: ValidationFinding[] = [];
  for (const finding of findings) {
    if (finding.keyword === 'anyOf') {
      const isBranch = ({ schemaPath }: ValidationFinding): boolean => schemaPath.startsWith(`${finding.schemaPath}/`);
      const branches = left.filter(isBranch);
      left = [...left.filter((each) => !isBranch(each)), ...summarizeUnion(finding, branches)];
    } else left.push(finding);
  }
  return left;
}

function summarizeUnion(union: ValidationFinding, branches: ValidationFinding[]): ValidationFinding[] {
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

/** Ignores branches of another type: a list with one invalid item need not be a string. */
function ofTheGivenType({ instancePath }: ValidationFinding, branches: ValidationFinding[]): ValidationFinding[] {
  const closer = branches.filter((each) => each.keyword !== 'type' || each.instancePath !== instancePath);
  return closer.length > 0 ? closer : branches;
}

function describeFinding({ keyword, params, message }: ValidationFinding): string {
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
  return (params as Readonly<Record<string, unknown>>)[name]; // keyword-specific; the caller checks the value
}
