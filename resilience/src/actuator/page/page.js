"use strict";
fetch("actuator", { headers: { accept: "application/json" } })
  .then((answer) => answer.json())
  .then(({ _links }) => {
    for (const [name, { href, templated }] of Object.entries(_links)) {
      if (templated) continue;
      const link = document.createElement("a");
      link.href = href;
      link.textContent = name;
      const item = document.createElement("li");
      item.append(link);
      document.getElementById("links").append(item);
    }
  });
