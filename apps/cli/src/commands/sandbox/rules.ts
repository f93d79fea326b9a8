import type { EgressRule } from '@svc/sdk';
import type { Command } from 'commander';
import { usageFailure } from '../../client/command-failure.ts';
import type { ConnectionFlags } from '../../client/connection.ts';
import { printable } from '../../client/output.ts';
import { addConnectionOptions } from '../../client/session.ts';
import { collect, withSandboxes } from './with-sandboxes.ts';

interface RulesFlags extends ConnectionFlags {
  rule?: string[];
  none?: boolean;
}

const FIELDS = ['host', 'header', 'query', 'secret', 'template', 'insecure'] as const;

export const RULE_HELP = 'Add a secret to requests, such as host=api.example.com,header=X-Key,secret=KEY; repeatable';

/** `svc sandbox rules` */
export function registerSandboxRules(parent: Command): void {
  addConnectionOptions(parent.command('rules'))
    .description('Show or replace the rules that add secrets to requests of a sandbox')
    .argument('<name or id>', 'Name or ID of the sandbox')
    .option('--rule <rule>', RULE_HELP, collect)
    .option('--none', 'Remove all rules')
    .action((name: string, flags: RulesFlags) =>
      withSandboxes(flags, async ({ find, output, signal }) => {
        const wanted = readWanted(flags);
        const sandbox = await find(name);
        const { egress_rules: rules } =
          wanted === null ? await sandbox.get({ signal }) : await sandbox.setEgressRules(wanted, { signal });
        const rows = rules.map((rule) => [
          rule.host,
          rule.header === undefined ? `?${rule.query ?? ''}` : rule.header,
          rule.secret,
          printable(rule.template ?? '{value}'),
        ]);
        output.answerTable(rules, ['HOST', 'SETS', 'SECRET', 'TEMPLATE'], rows);
      }),
    );
}

function readWanted({ rule, none }: RulesFlags): EgressRule[] | null {
  if (none !== true) return rule === undefined ? null : rule.map(readRule);
  if (rule !== undefined) throw usageFailure('--none cannot be combined with --rule');
  return [];
}

/** Reads `field=value,…`; the template comes last, because it may contain commas. */
export function readRule(text: string): EgressRule {
  const fields: Record<string, string> = {};
  const [head = '', ...template] = text.split(',template=');
  if (template.length > 0) fields['template'] = template.join(',template=');
  for (const part of head.split(',')) {
    const equals = part.indexOf('=');
    const field = part.slice(0, Math.max(0, equals));
    if (!FIELDS.some((each) => each === field)) {
      throw usageFailure(`${JSON.stringify(part)} is not a valid part of a rule`, `use ${FIELDS.join('=, ')}=`);
    }
    fields[field] = part.slice(equals + 1);
  }
  const { host, header, query, secret, insecure } = fields;
  if (host === undefined || secret === undefined) throw usageFailure('a rule requires host= and secret=');
  return {
    host,
    secret,
    ...(header !== undefined && { header }),
    ...(query !== undefined && { query }),
    ...(fields['template'] !== undefined && { template: fields['template'] }),
    ...(insecure !== undefined && { insecure: insecure === 'true' }),
  };
}
