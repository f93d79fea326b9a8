import { createHash } from 'node:crypto';
import { rangesOf } from '../../../../domain/egress-ranges.ts';
import { sandboxErrors } from '../../../../errors.ts';

/**
 * Mark on packets to our resolver or gateway from a sandbox that may use it. Marks do not cross network namespaces, so a sandbox
 * cannot set it.
 */
export const QUESTION_MARK = '0x73766371';
/** Placeholder for the interface, which only the launcher knows at this point. */
const INTERFACE = '{{interface}}';

/** First host number for sandboxes; see addressOf in the launcher. */
const FIRST_HOST = 16;

/** Interface and address for a slot number assigned by the launcher. */
export function linkOf(addressPrefix: string, slot: unknown): { interfaceName: string; address: string } {
  if (typeof slot !== 'number') throw sandboxErrors.RUNTIME_FAILED({ details: { reason: 'it has no network' } });
  const host = FIRST_HOST + slot;
  return { interfaceName: `svcsb${slot}`, address: `${addressPrefix}.${host >> 8}.${host & 0xff}` };
}

function tableOf(interfaceName: string): string {
  return `svc_egress_${interfaceName}`;
}

/**
 * A distinct mark per sandbox and allowlist, so that a connection of a previous sandbox with the same address does not
 * match, nor one under a previous list.
 */
function markOf(sandboxId: string, allowed: readonly string[]): string {
  const of = JSON.stringify([sandboxId, allowed]);
  return `0x${((createHash('sha256').update(of).digest().readUInt32BE(0) | 1) >>> 0).toString(16)}`;
}

/**
 * The firewall table of one sandbox, loaded before its first process runs. Only opened addresses can be reached, and
 * none but those of the list is open at first. It only restricts further what the table of all sandboxes allows. The launcher deletes it with
 * the sandbox's network.
 */
export function closedRules(sandboxId: string, allowed: readonly string[]): string {
  const table = tableOf(INTERFACE);
  const mark = markOf(sandboxId, allowed);
  const ranges = rangesOf(allowed);
  return [
    `table inet ${table}`,
    `delete table inet ${table}`,
    `table inet ${table} {`,
    '  set allowed {',
    '    type ipv4_addr',
    '    flags timeout',
    '    size 4096',
    '  }',
    '  set ranges {',
    '    type ipv4_addr',
    '    flags interval',
    '    auto-merge',
    ...(ranges.length === 0 ? [] : [`    elements = { ${ranges.join(', ')} }`]),
    '  }',
    '  chain mark_questions {',
    '    type filter hook prerouting priority mangle; policy accept;',
    '  }',
    '  chain redirect_questions {',
    '    type nat hook prerouting priority dstnat; policy accept;',
    '  }',
    '  chain leaving {',
    '    type filter hook forward priority filter - 6; policy accept;',
    `    iifname "${INTERFACE}" meta nfproto ipv6 drop`,
    // Connections opened while the address was allowed continue.
    `    iifname "${INTERFACE}" ct mark ${mark} accept`,
    `    iifname "${INTERFACE}" ip daddr @allowed ct mark set ${mark} accept`,
    `    iifname "${INTERFACE}" ip daddr @ranges ct mark set ${mark} accept`,
    `    iifname "${INTERFACE}" reject with icmp type admin-prohibited`,
    '  }',
    '}',
    '',
  ].join('\n');
}

export interface Questions {
  readonly interfaceName: string;
  readonly address: string;
  /** The resolvers that the sandbox is configured with, and the gateway. */
  readonly resolvers: readonly string[];
  /** Port of our resolver on the gateway. */
  readonly port: number;
}

/** Rules that lead the sandbox's queries to its configured resolvers to ours, and nothing else. */
export function redirectQuestions({ interfaceName, address, resolvers, port }: Questions): {
  readonly marks: readonly string[];
  readonly redirects: readonly string[];
} {
  const to = resolvers.filter((each) => /^\d+(\.\d+){3}$/.test(each)).join(', ');
  const from = ['udp', 'tcp'].map(
    (protocol) => `iifname "${interfaceName}" ip saddr ${address} ip daddr { ${to} } ${protocol} dport 53`,
  );
  return {
    marks: from.map((match) => `${match} meta mark set ${QUESTION_MARK}`),
    redirects: from.map((match) => `${match} redirect to :${port}`),
  };
}

/** Adds `redirectQuestions` to the table of a sandbox with an allowlist. */
export function questionRules(questions: Questions): string {
  const table = tableOf(questions.interfaceName);
  const { marks, redirects } = redirectQuestions(questions);
  return [
    `flush chain inet ${table} mark_questions`,
    `flush chain inet ${table} redirect_questions`,
    ...marks.map((rule) => `add rule inet ${table} mark_questions ${rule}`),
    ...redirects.map((rule) => `add rule inet ${table} redirect_questions ${rule}`),
    '',
  ].join('\n');
}

/** One transaction, whether or not the addresses are open: a timeout can only be set by adding the element again. */
export function openingRules(interfaceName: string, addresses: readonly string[], seconds: number): string {
  const element = `element inet ${tableOf(interfaceName)} allowed`;
  const list = addresses.join(', ');
  const timed = addresses.map((address) => `${address} timeout ${seconds}s`).join(', ');
  return `add ${element} { ${list} }\ndelete ${element} { ${list} }\nadd ${element} { ${timed} }\n`;
}
