import { workspaceOfOwnerId } from '../owner-identity.ts';
import { KNOWN_ACTIONS } from './known-actions.ts';
import { isPublicStatement } from './is-public.ts';
import { malformedPolicy } from './malformed-policy.ts';
import { readConditions } from './parse-conditions.ts';
import type { BucketPolicy, PatternSet, PolicyStatement, PrincipalSet } from './policy.ts';
import { matchesWildcard } from './wildcard.ts';

/** AWS's limit on a bucket policy. */
export const MAX_POLICY_BYTES = 20 * 1024;

const VERSIONS: ReadonlySet<unknown> = new Set(['2012-10-17', '2008-10-17']);
const STATEMENT_FIELDS: ReadonlySet<string> = new Set([
  'Sid',
  'Effect',
  'Principal',
  'NotPrincipal',
  'Action',
  'NotAction',
  'Resource',
  'NotResource',
  'Condition',
]);
const NOT_AN_OBJECT = "Policies must be valid JSON and the first byte must be '{'";
const NO_STATEMENT = 'A statement must be a JSON object';
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

type Fields = Readonly<Record<string, unknown>>;

/** Throws `MalformedPolicy` with the reason. A policy may refer to its own bucket only. */
export function parsePolicy(document: string, bucketName: string): BucketPolicy {
  const root = readObject(parseJson(document), NOT_AN_OBJECT);
  for (const field of Object.keys(root)) {
    if (field !== 'Version' && field !== 'Id' && field !== 'Statement') throw malformedPolicy(`Unknown field ${field}`);
  }
  if (root['Version'] !== undefined && !VERSIONS.has(root['Version'])) {
    throw malformedPolicy('The policy must contain a valid version string');
  }
  const given = root['Statement'];
  const listed: readonly unknown[] = Array.isArray(given) ? given : [given];
  if (given === undefined) throw malformedPolicy('Missing required field Statement');
  if (listed.length === 0) throw malformedPolicy('Could not parse the policy: Statement is empty!');
  const statements = listed.map((each) => readStatement(readObject(each, NO_STATEMENT), bucketName));
  const sids = listed.flatMap((each) => readSid(readObject(each, NO_STATEMENT)));
  if (new Set(sids).size !== sids.length)
    throw malformedPolicy('Statement IDs (SID) in a single policy must be unique.');
  return {
    statements,
    isPublic: statements.some(isPublicStatement),
    readsObjectTags: statements.some(({ conditions }) =>
      conditions.some(({ key }) => key.startsWith('s3:existingobjecttag/')),
    ),
  };
}

function parseJson(document: string): unknown {
  try {
    return JSON.parse(document);
  } catch (cause) {
    const reason = document.trimStart().startsWith('{') ? 'This policy contains invalid Json' : NOT_AN_OBJECT;
    throw malformedPolicy(reason, cause);
  }
}

function readStatement(fields: Fields, bucketName: string): PolicyStatement {
  for (const field of Object.keys(fields)) {
    if (!STATEMENT_FIELDS.has(field)) throw malformedPolicy(`Unknown field ${field}`);
  }
  const effect = fields['Effect'];
  if (effect === undefined) throw malformedPolicy('Missing required field Effect');
  if (effect !== 'Allow' && effect !== 'Deny') {
    throw malformedPolicy(`Invalid effect: ${typeof effect === 'string' ? effect.slice(0, 100) : typeof effect}`);
  }
  const principals = readPrincipals(fields);
  if (principals.negated && effect === 'Allow') {
    throw malformedPolicy('Allow with NotPrincipal is not supported');
  }
  return {
    effect,
    principals,
    actions: readActions(fields),
    resources: readResources(fields, bucketName),
    conditions: readConditions(fields['Condition']),
  };
}

function readSid(fields: Fields): string[] {
  const sid = fields['Sid'];
  if (sid === undefined) return [];
  if (typeof sid !== 'string') throw malformedPolicy('A statement ID must be a string');
  return [sid];
}

function readActions(fields: Fields): PatternSet {
  const { patterns, negated } = readPatterns(fields, 'Action');
  for (const pattern of patterns) {
    const lower = pattern.toLowerCase();
    if (!KNOWN_ACTIONS.some((action) => matchesWildcard(lower, action.toLowerCase()))) {
      throw malformedPolicy('Policy has invalid action');
    }
  }
  return { patterns: patterns.map((pattern) => pattern.toLowerCase()), negated };
}

function readResources(fields: Fields, bucketName: string): PatternSet {
  const set = readPatterns(fields, 'Resource');
  for (const pattern of set.patterns) {
    const path = /^arn:aws:s3:::(.+)$/s.exec(pattern)?.[1];
    if (path === undefined && pattern !== '*') throw malformedPolicy('Policy has invalid resource');
    if (path === undefined) continue;
    const slash = path.indexOf('/');
    const bucketPattern = slash === -1 ? path : path.slice(0, slash);
    if (!matchesWildcard(bucketPattern, bucketName)) throw malformedPolicy('Policy has invalid resource');
  }
  return set;
}

function readPatterns(fields: Fields, name: 'Action' | 'Resource'): PatternSet {
  const [given, not] = [fields[name], fields[`Not${name}`]];
  if (given !== undefined && not !== undefined) throw malformedPolicy(`${name} and Not${name} exclude each other`);
  if (given === undefined && not === undefined) throw malformedPolicy(`Missing required field ${name}`);
  const patterns = readTexts(given ?? not, name);
  if (patterns.some((pattern) => pattern.includes('${'))) throw malformedPolicy('Policy variables are not supported');
  return { patterns, negated: not !== undefined };
}

function readPrincipals(fields: Fields): PrincipalSet {
  const [given, not] = [fields['Principal'], fields['NotPrincipal']];
  if (given !== undefined && not !== undefined) throw malformedPolicy('Principal and NotPrincipal exclude each other');
  const value = given ?? not;
  if (value === undefined) throw malformedPolicy('Missing required field Principal');
  const negated = not !== undefined;
  if (value === '*') return { negated, everybody: true, workspaces: new Set(), accessKeys: new Set() };
  const fieldsOfPrincipal = readObject(value, 'Invalid principal in policy');
  const [workspaces, accessKeys] = [new Set<string>(), new Set<string>()];
  let everybody = false;
  for (const [kind, names] of Object.entries(fieldsOfPrincipal)) {
    for (const name of readTexts(names, 'Principal')) {
      if (kind === 'AWS' && name === '*') everybody = true;
      else if (kind === 'AWS') addPrincipal(name, workspaces, accessKeys);
      else if (kind === 'CanonicalUser') addCanonicalUser(name, workspaces);
      else if (kind !== 'Service' && kind !== 'Federated') throw malformedPolicy('Invalid principal in policy');
    }
  }
  if (Object.keys(fieldsOfPrincipal).length === 0) throw malformedPolicy('Invalid principal in policy');
  return { negated, everybody, workspaces, accessKeys };
}

/**
 * Accepts `arn:aws:iam::<workspace>:root`, `arn:aws:iam::<workspace>:user/<access key>`, a workspace's uuid or
 * canonical id, or an access key. Other well-formed AWS principals are accepted and match nothing.
 */
function addPrincipal(name: string, workspaces: Set<string>, accessKeys: Set<string>): void {
  const arn = /^arn:aws:(?:iam|sts)::([\w-]*):(root|(?:user|role|assumed-role)\/.+)$/.exec(name);
  if (arn === null) {
    if (name.startsWith('tid_')) accessKeys.add(name);
    else if (/^\d{12}$/.test(name)) return;
    else addCanonicalUser(name, workspaces);
    return;
  }
  const [, account = '', who = ''] = arn;
  if (who === 'root') {
    const workspace = UUID.test(account) ? account : workspaceOfOwnerId(account);
    if (workspace !== null) workspaces.add(workspace);
  } else if (who.startsWith('user/tid_')) {
    accessKeys.add(who.slice('user/'.length));
  }
}

function addCanonicalUser(name: string, workspaces: Set<string>): void {
  const workspace = UUID.test(name) ? name : workspaceOfOwnerId(name);
  if (workspace === null) throw malformedPolicy('Invalid principal in policy');
  workspaces.add(workspace);
}

function readTexts(value: unknown, field: string): readonly string[] {
  const listed: readonly unknown[] = Array.isArray(value) ? value : [value];
  const texts = listed.filter((each) => typeof each === 'string');
  if (texts.length === 0 || texts.length !== listed.length || texts.includes('')) {
    throw malformedPolicy(
      field === 'Principal' ? 'Invalid principal in policy' : `Policy has invalid ${field.toLowerCase()}`,
    );
  }
  return texts;
}

function readObject(value: unknown, otherwise: string): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw malformedPolicy(otherwise);
  }
  return value as Fields; // a JSON object
}
