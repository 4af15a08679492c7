'use strict';
(function () {
  var all = function (selector, root) {
    return Array.prototype.slice.call((root || document).querySelectorAll(selector));
  };
  var get = function (id) { return document.getElementById(id); };
  var box = get('filters'), form = box && box.querySelector('form'), text = get('filter-text'), output = get('filter-count');
  var selects = { outcome: get('filter-outcome'), machine: get('filter-machine'), tags: get('filter-tag') };
  var items = all('.item').map(function (element) {
    // What is folded behind a name is not looked through.
    var parts = all('.head, .trace > summary, .name ~ td', element);
    var words = (parts.length ? parts : [element]).map(function (part) { return part.textContent; }).join(' ');
    return { element: element, words: words.toLowerCase(), data: element.dataset };
  });
  var sections = all('main > section, main details.suite');
  var opened = [];

  function fill(select, key) {
    var seen = new Set();
    items.forEach(function (item) {
      (item.data[key] || '').split('\n').forEach(function (value) { if (value) seen.add(value); });
    });
    Array.from(seen).sort().forEach(function (value) {
      var option = document.createElement('option');
      option.value = option.textContent = value;
      select.append(option);
    });
    select.parentElement.hidden = seen.size < 2;
  }

  function apply() {
    var words = text.value.toLowerCase().split(/\s+/).filter(Boolean);
    var isOn = words.length > 0 || Object.keys(selects).some(function (key) { return selects[key].value; });
    var count = 0;
    items.forEach(function (item) {
      var fits = words.every(function (word) { return item.words.indexOf(word) >= 0; }) &&
        Object.keys(selects).every(function (key) {
          var value = selects[key].value;
          return !value || (item.data[key] || '').split('\n').indexOf(value) >= 0;
        });
      item.element.hidden = !fits;
      if (fits) count += 1;
    });
    opened.forEach(function (details) { details.open = false; });
    opened = [];
    sections.forEach(function (section) {
      var inside = section.querySelector('.item');
      var fits = !isOn || section.querySelector('.item:not([hidden])') !== null;
      section.hidden = isOn && !fits && inside !== null;
      if (isOn && fits && inside && section.tagName === 'DETAILS' && !section.open) {
        section.open = true;
        opened.push(section);
      }
    });
    output.textContent = isOn ? count + ' of ' + items.length + ' listed' : '';
  }

  function copy(button) {
    var code = button.parentElement.querySelector('code');
    var done = function () {
      button.textContent = 'Copied';
      setTimeout(function () { button.textContent = 'Copy'; }, 1500);
    };
    var select = function () {
      getSelection().selectAllChildren(code);
      if (document.execCommand('copy')) done();
    };
    if (navigator.clipboard) navigator.clipboard.writeText(code.textContent).then(done, select);
    else select();
  }

  // What belongs together is lit together; what a link leads to is unfolded.
  function light(event) {
    var tied = event.target.closest && event.target.closest('[data-tie]');
    all('.lit').forEach(function (element) { element.classList.remove('lit'); });
    if (!tied) return;
    all('[data-tie]', tied.closest('article')).forEach(function (element) {
      element.classList.toggle('lit', element.dataset.tie === tied.dataset.tie);
    });
  }

  function unfold(id) {
    var target = id && get(id);
    for (var element = target; element; element = element.parentElement) {
      if (element.tagName === 'DETAILS') element.open = true;
    }
    return target;
  }

  var current = null;
  function go(step) {
    var cases = all('article.case').filter(function (element) { return element.offsetParent !== null; });
    if (!cases.length) return;
    var place = cases.indexOf(current);
    place = place < 0 ? (step > 0 ? 0 : cases.length - 1) : Math.min(cases.length - 1, Math.max(0, place + step));
    current = cases[place];
    current.querySelector('h3').focus({ preventScroll: true });
    current.scrollIntoView({ block: 'start' });
  }

  document.addEventListener('keydown', function (event) {
    if (!box) return;
    if (event.key === 'Escape' && form.contains(event.target)) { form.reset(); event.target.blur(); return; }
    if (event.ctrlKey || event.metaKey || event.altKey || !get('keys').checked) return;
    if (/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
    var button = event.key === 'c' && current && current.querySelector('.copy');
    if (event.key === '/') { box.open = true; text.focus(); }
    else if (event.key === 'j') go(1);
    else if (event.key === 'k') go(-1);
    else if (event.key === 'Escape') form.reset();
    else if (button) copy(button);
    else return;
    event.preventDefault();
  });
  document.addEventListener('click', function (event) {
    if (event.target.classList.contains('copy')) copy(event.target);
    var link = event.target.closest('a[href^="#"]');
    if (link) unfold(link.hash.slice(1));
  });
  document.addEventListener('mouseover', light);
  document.addEventListener('focusin', light);
  if (location.hash && unfold(location.hash.slice(1))) get(location.hash.slice(1)).scrollIntoView();
  all('.copy').forEach(function (button) { button.hidden = false; });
  // The page of a night has nothing to filter.
  if (!box) return;
  form.addEventListener('submit', function (event) { event.preventDefault(); });
  form.addEventListener('reset', function () { setTimeout(apply); });
  form.addEventListener('input', apply);
  fill(selects.outcome, 'outcome');
  fill(selects.machine, 'machine');
  fill(selects.tags, 'tags');
  box.hidden = items.length < 2;
})();
