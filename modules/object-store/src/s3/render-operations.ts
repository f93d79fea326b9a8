import type { OperationRoute } from './operation.ts';
import { absentOperations } from './operations/absent.ts';
import { operations } from './operations/index.ts';

const HEAD = `# S3 operations
Point any S3 client at the platform's S3 endpoint with an access key:

\`\`\`sh
aws --endpoint-url http://127.0.0.1:9000 s3 cp report.pdf s3://my-bucket/
\`\`\`

Every operation below works as the AWS API reference describes it. \`Right\` is the action that the access key, and its creator, must be
allowed ([authorization](authorization.md)); \`Policy action\` is its name in bucket policies. This page is generated from the declarations
in \`modules/object-store/src/s3/operations/\`.
`;

const ABSENT_HEAD = `## Not implemented
These are answered 501 \`NotImplemented\` with the name of the operation. Nothing of them is silently ignored.
`;

/** Renders the page `docs/s3-operations.md`. */
export function renderOperations(): string {
  const implemented = operations
    .toSorted((left, right) => left.name.localeCompare(right.name))
    .map((each) => `| ${each.name} | \`${renderRequest(each)}\` | \`${each.action}\` | \`${each.needs}\` |`);
  const absent = absentOperations.map((each) => `| ${each.name} | \`${renderRequest(each)}\` |`);
  return [
    HEAD,
    '| Operation | Request | Policy action | Right |\n| --- | --- | --- | --- |',
    ...implemented,
    '',
    ABSENT_HEAD,
    '| Operation | Request |\n| --- | --- |',
    ...absent,
    '',
  ].join('\n');
}

function renderRequest({ on, at, method, subresource }: OperationRoute): string {
  const path = { service: '/', bucket: '/{bucket}', object: '/{bucket}/{key}' }[at ?? on];
  const methods = typeof method === 'string' ? method : method.join(', ');
  return `${methods} ${path}${subresource === undefined ? '' : `?${subresource}`}`;
}
