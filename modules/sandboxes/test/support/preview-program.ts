/**
 * A program for a sandbox with Node. `/headers` returns the request's headers, `/echo` its body, `/events` sends one
 * word at a time, and `/socket` echoes WebSocket frames of up to 125 bytes (a minimal subset of RFC 6455).
 */
export const PREVIEW_PROGRAM = `
const { createServer } = require('node:http');
const { createHash } = require('node:crypto');
const server = createServer((request, response) => {
  const { pathname } = new URL(request.url, 'http://host');
  if (pathname === '/headers') {
    response.setHeader('set-cookie', ['app=1; Domain=sandboxes.localhost; Path=/', 'svc_preview=stolen', 'svc_session=x']);
    response.setHeader('clear-site-data', '"*"');
    response.setHeader('connection', 'x-private, close');
    response.setHeader('x-private', '1');
    response.end(JSON.stringify({ url: request.url, headers: request.headers }));
  } else if (pathname === '/echo') request.pipe(response);
  else if (pathname === '/events') {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write('data: one\\n\\n');
    const next = setInterval(() => response.write('data: more\\n\\n'), 50);
    response.once('close', () => clearInterval(next));
  } else if (pathname === '/cut') {
    response.writeHead(200, { 'content-length': 1000 });
    response.write('half');
    setTimeout(() => request.socket.destroy(), 50);
  } else if (pathname === '/nonsense') request.socket.end('this is no HTTP\\r\\n\\r\\n');
  else {
    response.setHeader('content-type', 'text/html');
    response.end('<!doctype html><title>app</title><p id=socket></p><p id=events></p><p id=cookie></p><script>' +
      'const show = (id, text) => { document.getElementById(id).textContent = text; };' +
      'const socket = new WebSocket(new URL("socket", location.href).href.replace("http", "ws"));' +
      'socket.onopen = () => socket.send("hello"); socket.onmessage = ({ data }) => show("socket", data);' +
      'new EventSource("events").onmessage = ({ data }) => show("events", data);' +
      'try { show("cookie", document.cookie || "none"); } catch (error) { show("cookie", error.name); }</script>');
  }
});
server.on('upgrade', (request, socket, head) => {
  if (!request.url.startsWith('/socket')) return socket.end('HTTP/1.1 403 Forbidden\\r\\ncontent-length: 2\\r\\n\\r\\nno');
  const accept = createHash('sha1').update(request.headers['sec-websocket-key'] + '258EAFA5-E914-47DA-95CA-C5AB0DC85B11');
  socket.write('HTTP/1.1 101 Switching Protocols\\r\\nUpgrade: websocket\\r\\nConnection: Upgrade\\r\\n' +
    'Sec-WebSocket-Accept: ' + accept.digest('base64') + '\\r\\n\\r\\n');
  socket.on('error', () => undefined);
  let bytes = head;
  const read = (chunk) => {
    bytes = Buffer.concat([bytes, chunk]);
    while (bytes.length >= 6 && bytes.length >= 6 + (bytes[1] & 127)) {
      const length = bytes[1] & 127;
      const mask = bytes.subarray(2, 6);
      const data = Buffer.from(bytes.subarray(6, 6 + length)).map((byte, index) => byte ^ mask[index % 4]);
      socket.write(Buffer.concat([Buffer.from([bytes[0], length]), data]));
      if ((bytes[0] & 15) === 8) return socket.end();
      bytes = bytes.subarray(6 + length);
    }
  };
  read(Buffer.alloc(0));
  socket.on('data', read);
});
server.listen(8080, '127.0.0.1', () => console.log('ready'));
createServer((request, response) => response.end('on six')).listen(8081, '::1');
`;
