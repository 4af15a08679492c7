import Journal
/// The schema of the reports of ``JUnitProfile/ci``, which is ours.
let ciSchema = """
  <?xml version="1.0" encoding="UTF-8"?>
  <xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
    <xs:element name="testsuites">
      <xs:complexType>
        <xs:sequence>
          <xs:element name="testsuite" type="suite" minOccurs="0" maxOccurs="unbounded"/>
        </xs:sequence>
        <xs:attribute name="name" type="xs:string" use="required"/>
        <xs:attributeGroup ref="counts"/>
      </xs:complexType>
      <!-- Readers merge or drop test cases of the same name. -->
      <xs:unique name="caseNames">
        <xs:selector xpath="testsuite/testcase"/>
        <xs:field xpath="@classname"/>
        <xs:field xpath="@name"/>
      </xs:unique>
      <xs:unique name="suiteNames">
        <xs:selector xpath="testsuite"/>
        <xs:field xpath="@name"/>
      </xs:unique>
    </xs:element>

    <xs:complexType name="suite">
      <xs:sequence>
        <xs:element name="properties" type="properties" minOccurs="0"/>
        <xs:element name="testcase" type="case" minOccurs="0" maxOccurs="unbounded"/>
      </xs:sequence>
      <xs:attribute name="name" type="text" use="required"/>
      <xs:attributeGroup ref="counts"/>
      <xs:attribute name="timestamp" type="moment"/>
      <xs:attribute name="hostname" type="text"/>
    </xs:complexType>

    <xs:complexType name="case">
      <xs:sequence>
        <xs:element name="properties" type="properties" minOccurs="0"/>
        <xs:choice minOccurs="0">
          <!-- A case that agreed when it was tried again: the tries before. -->
          <xs:group ref="flaky" maxOccurs="unbounded"/>
          <!-- One that did not: a try, and the others. -->
          <xs:sequence>
            <xs:choice>
              <xs:element name="failure" type="outcome"/>
              <xs:element name="error" type="outcome"/>
              <xs:element name="skipped" type="reason"/>
            </xs:choice>
            <xs:group ref="rerun" minOccurs="0" maxOccurs="unbounded"/>
          </xs:sequence>
        </xs:choice>
        <xs:element name="system-out" type="xs:string" minOccurs="0"/>
      </xs:sequence>
      <xs:attribute name="classname" type="text" use="required"/>
      <xs:attribute name="name" type="text" use="required"/>
      <xs:attribute name="file" type="text"/>
      <xs:attribute name="line" type="xs:positiveInteger"/>
      <xs:attribute name="time" type="seconds" use="required"/>
    </xs:complexType>

    <xs:group name="flaky">
      <xs:choice>
        <xs:element name="flakyFailure" type="try"/>
        <xs:element name="flakyError" type="try"/>
      </xs:choice>
    </xs:group>

    <xs:group name="rerun">
      <xs:choice>
        <xs:element name="rerunFailure" type="try"/>
        <xs:element name="rerunError" type="try"/>
      </xs:choice>
    </xs:group>

    <xs:complexType name="try">
      <xs:sequence>
        <xs:element name="stackTrace" type="text"/>
        <xs:element name="system-out" type="xs:string" minOccurs="0"/>
      </xs:sequence>
      <xs:attribute name="type" type="text" use="required"/>
      <xs:attribute name="message" type="xs:string" use="required"/>
    </xs:complexType>

    <xs:complexType name="outcome">
      <xs:simpleContent>
        <xs:extension base="text">
          <xs:attribute name="type" type="text" use="required"/>
          <xs:attribute name="message" type="xs:string" use="required"/>
        </xs:extension>
      </xs:simpleContent>
    </xs:complexType>

    <xs:complexType name="reason">
      <xs:simpleContent>
        <xs:extension base="text">
          <xs:attribute name="message" type="text" use="required"/>
        </xs:extension>
      </xs:simpleContent>
    </xs:complexType>

    <xs:complexType name="properties">
      <xs:sequence>
        <xs:element name="property" maxOccurs="unbounded">
          <xs:complexType>
            <xs:attribute name="name" type="text" use="required"/>
            <xs:attribute name="value" type="xs:string" use="required"/>
          </xs:complexType>
        </xs:element>
      </xs:sequence>
    </xs:complexType>

    <xs:attributeGroup name="counts">
      <xs:attribute name="tests" type="xs:nonNegativeInteger" use="required"/>
      <xs:attribute name="failures" type="xs:nonNegativeInteger" use="required"/>
      <xs:attribute name="errors" type="xs:nonNegativeInteger" use="required"/>
      <xs:attribute name="skipped" type="xs:nonNegativeInteger" use="required"/>
      <xs:attribute name="time" type="seconds" use="required"/>
    </xs:attributeGroup>

    <xs:simpleType name="text">
      <xs:restriction base="xs:string">
        <xs:minLength value="1"/>
      </xs:restriction>
    </xs:simpleType>

    <xs:simpleType name="seconds">
      <xs:restriction base="xs:string">
        <xs:pattern value="[0-9]+\\.[0-9]{3}"/>
      </xs:restriction>
    </xs:simpleType>

    <xs:simpleType name="moment">
      <xs:restriction base="xs:string">
        <xs:pattern value="[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z"/>
      </xs:restriction>
    </xs:simpleType>
  </xs:schema>

  """
