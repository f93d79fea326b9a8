import { expect, it } from 'vitest';
import { readAclHeaders, resolveAcl } from './requested-acl.ts';

const read = (value: string) => readAclHeaders((name) => (name === 'x-amz-grant-read' ? value : undefined));

it('reads grantees of headers with any spacing', () => {
  expect(read(' id = "a" ,URI=http://x,\temailAddress="e@x"\t')).toMatchObject({
    grants: [{ grantee: { id: 'a' } }, { grantee: { uri: 'http://x' } }, { grantee: { email: 'e@x' } }],
  });
  for (const wrong of ['', 'id', 'id=', 'id=""', 'id=a b', 'id="a" b', 'other=a', 'i d=a']) {
    expect(() => read(wrong), wrong).toThrow(expect.objectContaining({ code: 'InvalidArgument' }));
  }
});

it('takes no quadratic time for long runs of spaces', () => {
  const spaces = '\t'.repeat(4_000_000);
  for (const wrong of [`id=${spaces}=\t\0`, `id${spaces}`, `${spaces}id${spaces}=${spaces}a b`]) {
    expect(() => read(wrong)).toThrow(expect.objectContaining({ code: 'InvalidArgument' }));
  }
});

it('refuses a group that is none, whatever its name', async () => {
  for (const uri of ['constructor', '__proto__', 'http://acs.amazonaws.com/groups/global/Nobody']) {
    const asked = read(`uri=${uri}`);
    if (asked === null) throw new Error('unreachable');
    const owners = { byEmail: async () => null, exists: async () => false };
    await expect(resolveAcl(asked, 'a', 'b', owners)).rejects.toMatchObject({ code: 'InvalidArgument' });
  }
});
