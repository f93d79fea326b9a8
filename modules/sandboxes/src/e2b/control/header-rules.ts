import { type Static, Type } from 'typebox';
import { MAX_EGRESS_RULES, type EgressRule } from '../../domain/egress-rules/egress-rule.ts';
import type { Secret } from '../../domain/secrets/secret.ts';
import type { SecretService } from '../../domain/secrets/secret-service.ts';
import { sandboxErrors } from '../../errors.ts';

const MAX_HEADER_CHARACTERS = 1024;
/** What `Secret.fill` of the clients returns, and placeholders for identities. */
const PLACEHOLDER = /\$\{e2b\.([^{}]*)\}/g;
const SECRET = 'secrets.';
const VALUE_MARK = '{value}';

/** Nothing else is known, and what is not known would have no effect. */
const ONLY = { additionalProperties: false };
const headersSchema = Type.Union([
  Type.Record(Type.String({ maxLength: 128 }), Type.String({ maxLength: MAX_HEADER_CHARACTERS })),
  Type.Null(),
]);
const transformSchema = Type.Object({ headers: Type.Optional(headersSchema) }, ONLY);
const ruleSchema = Type.Object({ transform: Type.Optional(Type.Union([transformSchema, Type.Null()])) }, ONLY);

/** `network.rules`: lists of rules by host. */
export const headerRulesSchema = Type.Optional(
  Type.Union([
    Type.Record(Type.String({ maxLength: 255 }), Type.Array(ruleSchema, { maxItems: MAX_EGRESS_RULES })),
    Type.Null(),
  ]),
);

/** A rule that sets a header. */
export interface HeaderRule {
  readonly host: string;
  readonly header: string;
  readonly secret: string;
  readonly template: string;
}

/**
 * The rules that set these headers. A header is one placeholder of a secret and text around it. Throws E2B_UNSUPPORTED
 * for anything else, and INVALID_FIELD for a secret that the workspace does not have.
 */
export async function egressRulesOf(
  rules: Static<typeof headerRulesSchema> | undefined,
  path: string,
  findNames: () => Promise<ReadonlySet<string>>,
): Promise<HeaderRule[]> {
  const parsed = Object.entries(rules ?? {}).flatMap(([host, list]) =>
    list.flatMap(({ transform }) =>
      Object.entries(transform?.headers ?? {}).map(([header, value]) => ({
        host,
        header,
        ...parseValue(header, value),
      })),
    ),
  );
  if (parsed.length === 0) return [];
  if (parsed.length > MAX_EGRESS_RULES) {
    const reason = `has ${parsed.length} headers; at most ${MAX_EGRESS_RULES} are allowed`;
    throw sandboxErrors.INVALID_FIELD({ details: { field: path, reason } });
  }
  const names = await findNames();
  return parsed.map((rule) => {
    const secret = [rule.secret, rule.secret.toLowerCase()].find((name) => names.has(name));
    if (secret !== undefined) return { ...rule, secret };
    const reason = `refers to the secret ${rule.secret}, which does not exist`;
    throw sandboxErrors.INVALID_FIELD({ details: { field: `${path}.${rule.host}`, reason } });
  });
}

function parseValue(header: string, value: string): { secret: string; template: string } {
  const [first, second] = [...value.matchAll(PLACEHOLDER)];
  const [placeholder = '', name = ''] = first ?? [];
  if (first === undefined) {
    throw unsupported(
      `The literal value of the header ${header}`,
      'store it with Secret.create and set Secret.fill(name)',
    );
  }
  if (second !== undefined)
    throw unsupported('More than one placeholder in a header', 'store the whole value as a secret');
  if (!name.startsWith(SECRET)) throw unsupported('Workload identity', 'store a token as a secret');
  return { secret: name.slice(SECRET.length), template: value.replace(placeholder, () => VALUE_MARK) };
}

/** The reverse, as clients see it. Rules for query parameters are none of theirs. */
export function toHeaderRulesView(rules: readonly EgressRule[]) {
  const byHost: Record<string, { transform: { headers: Record<string, string> } }[]> = {};
  for (const { host, header, secret, template } of rules) {
    if (header === null) continue;
    const value = template.replace(VALUE_MARK, () => `\${e2b.${SECRET}${secret}}`);
    (byHost[host] ??= []).push({ transform: { headers: { [header]: value } } });
  }
  return Object.keys(byHost).length === 0 ? {} : { rules: byHost };
}

/** By identifier, name, or name in lower case, which is how clients create them. Throws SECRET_NOT_FOUND. */
export async function findSecret(
  secrets: Pick<SecretService, 'list'>,
  workspaceUuid: string,
  wanted: string,
): Promise<Secret> {
  const all = await secrets.list(workspaceUuid);
  const byName = (name: string): Secret | undefined => all.find((each) => each.name === name);
  const found = all.find(({ id }) => id === wanted) ?? byName(wanted) ?? byName(wanted.toLowerCase());
  if (found === undefined) throw sandboxErrors.SECRET_NOT_FOUND({ details: { name: wanted } });
  return found;
}

function unsupported(feature: string, remedy: string): Error {
  return sandboxErrors.E2B_UNSUPPORTED({ details: { feature, remedy } });
}
